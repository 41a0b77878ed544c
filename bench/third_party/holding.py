"""What holds requests at a database while an application is run: a table that another client has
locked, and the disk on which all servers of the trial write, which stands still.

The disk is an ext4 of the run's own at the place of trials' working folders, in a mount namespace:
nobody else sees it, and it is gone with the run. A client on the database's own socket locks the
table.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from declaration import Application
from parts import Appearance, time_in_part
from running import Tierlab

NAME = "held"
TRIALS = Path("/var/tmp")
"""`tierlab.environments.native.host.WORK_ROOT`."""
IMAGE_BYTES = 4 << 30
"""Of a sparse file."""
LENGTH_S = 1.0
APART_S = 2.0
LONGEST_S = 180.0

_WITHIN = 'echo $$ >"$1"; mount -o loop "$2" "$3"; shift 3; exec "$@"'
_STAND_STILL = 'fsfreeze --freeze "$1" && echo held && sleep "$2"; fsfreeze --unfreeze "$1"'


def trial(command: Tierlab, application: Application, text: str, *settings: str) -> Path:
    """Run an experiment while its database is held; return the run folder. What was done when is in
    ``held.json`` beside the experiment. Raises `FailedError`.
    """
    place = command.place
    if NAME in command.kept:
        return command.trial(NAME, text, *settings)
    with _disk(place / "held.img") as image:
        number = place / "held.pid"
        within = ("sh", "-euc", _WITHIN, "sh", str(number), str(image), str(TRIALS))
        own = Tierlab(
            place, command.kept, ("unshare", "--mount", "--propagation", "private", *within)
        )
        log = place / "held.log"
        log.unlink(missing_ok=True)
        done: list[dict[str, str | int]] = []
        over = threading.Event()
        holder = threading.Thread(target=_hold, args=(application, log, number, over, done))
        holder.start()
        try:
            run = own.trial(NAME, text, *settings)
        finally:
            over.set()
            holder.join()
    (place / "held.json").write_text(json.dumps(done))
    return run


def appearances(application: Application, run: Path, done: Path) -> list[Appearance]:
    """Return how long each thing held the database's visits, and what their parts say."""
    found = []
    for each in json.loads(done.read_text("utf-8")):
        span = {"begin": each["begin_ns"], "end": each["end_ns"]}
        expected_ns, found_ns = time_in_part(run, application.held, each["part"], span)
        found.append(
            Appearance(
                each["done"], application.held, each["part"], expected_ns / 1e9, found_ns / 1e9
            )
        )
    return found


@contextmanager
def _disk(image: Path) -> Iterator[Path]:
    with image.open("wb") as file:
        file.truncate(IMAGE_BYTES)
    try:
        subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
        yield image
    finally:
        image.unlink()


def _hold(
    application: Application,
    log: Path,
    number: Path,
    over: threading.Event,
    done: list[dict[str, str | int]],
) -> None:
    """Lock the table, then stop the disk, once all users are there."""
    until = time.monotonic() + LONGEST_S
    while not (log.exists() and "runtime" in log.read_text("utf-8", "replace")):
        if over.wait(0.1) or time.monotonic() > until:
            return
    trials = Path(f"/proc/{number.read_text().strip()}/root{TRIALS}")
    if application.locked and not over.wait(APART_S):
        done.append(
            {"done": "lock of a table", "part": "lock", **_lock(trials, application.locked)}
        )
    if not over.wait(APART_S):
        done.append({"done": "disk that stands still", "part": "disk", **_stand_still(trials)})


def _lock(trials: Path, table: str) -> dict[str, int]:
    """Keep a table of MariaDB's from all others for a while."""
    (socket,) = trials.rglob("db.sock")
    client = [
        "mariadb",
        "--no-defaults",
        f"--socket={socket}",
        "--user=root",
        "--batch",
        "--unbuffered",
    ]
    with subprocess.Popen(
        client, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"LOCK TABLES {table} WRITE; SELECT 'held';\n")
        while process.stdout.readline() != "held\n":
            assert process.poll() is None
        begin_ns = time.time_ns()
        time.sleep(LENGTH_S)
        end_ns = time.time_ns()
        process.stdin.write("UNLOCK TABLES;\n")
        process.stdin.close()
    return {"begin_ns": begin_ns, "end_ns": end_ns}


def _stand_still(trials: Path) -> dict[str, int]:
    """Let nobody write for a while; the thaw does not depend on this process' life."""
    command = ["sh", "-c", _STAND_STILL, "sh", str(trials), str(LENGTH_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        begin_ns = time.time_ns()
    return {"begin_ns": begin_ns, "end_ns": time.time_ns()}
