"""Laying an application down: its own folder below ``build/third-party``, made once."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from declaration import TOOLS, Application

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "third-party"
LONGEST_S = 1200
STAMP = ".prepared"


class SetUpError(Exception):
    """A set-up that failed; the message has its last lines."""


def prepared(application: Application) -> Path:
    """Return the application's folder, with its experiment file in it: ``@place@`` there is the
    folder itself.

    Its ``setup.sh`` runs there unless it has before, as it is now. Raises :class:`SetUpError`.
    """
    place = BUILD / application.name
    stamp = place / STAMP
    if not stamp.exists() or stamp.read_text() != application.digest:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        _set_up(application, place)
        stamp.write_text(application.digest)
    text = application.experiment.replace("@place@", str(place))
    (place / "experiment.toml").write_text(text)
    return place


def _set_up(application: Application, place: Path) -> None:
    log = place.with_name(f"{application.name}.setup.log")
    tools = {"SOURCE": str(application.folder), "TOOLS": str(TOOLS)}
    with log.open("w") as said:
        done = subprocess.run(
            ["sh", "-eu", application.folder / "setup.sh"],
            cwd=place,
            env=os.environ | tools,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_S,
            check=False,
        )
    if done.returncode:
        last = "\n".join(log.read_text("utf-8", "replace").splitlines()[-5:])
        raise SetUpError(f"set-up failed, see {log}:\n{last}")


@contextmanager
def started(application: Application, place: Path) -> Iterator[None]:
    """Have the application run meanwhile, where it has a ``start.sh``: that is for one that runs
    already when Tierlab comes. The script ends once all servers answer; they are of its session.
    """
    script = application.folder / "start.sh"
    if not script.exists():
        yield
        return
    with (place / "start.log").open("w") as said:
        process = subprocess.Popen(
            ["sh", "-eu", script],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            if process.wait(120):
                raise SetUpError(f"start.sh failed: {(place / 'start.log').read_text('utf-8')}")
            yield
        finally:
            _end_session(process.pid)


def _end_session(session: int) -> None:
    """End all processes that the script left."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                os.kill(int(process.name), signal.SIGTERM)
        except (FileNotFoundError, ProcessLookupError):
            continue
