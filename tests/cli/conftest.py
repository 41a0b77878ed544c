"""The command on a machine that lacks something if a test wants it so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import Ended, Start, commands
from tierlab.cli.main import main


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may write to (those of pytest are closed to others)."""
    made = Path(tempfile.mkdtemp(prefix="input", dir="/var/tmp"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


@pytest.fixture
def start(place: Path) -> Iterator[Start]:
    """Start ``tierlab`` with arguments."""
    with commands(place) as start:
        yield start


@pytest.fixture
def tierlab(start: Start) -> Callable[..., Ended]:
    """Run ``tierlab`` to its end."""
    return lambda *arguments, prefix=(): start(*arguments, prefix=prefix).end()


@pytest.fixture
def refused(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Have the command line refuse its arguments in this process; return its sentence.

    What it loads takes longest, and is loaded once for all.
    """

    def ask(*arguments: str | Path) -> str:
        monkeypatch.chdir(place)
        monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "argv", ["tierlab", *map(str, arguments)])
        monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(os.getpid(), int(str(ended.value.code)), *capsys.readouterr()).sentence

    return ask


@pytest.fixture
def with_mount() -> Iterator[Callable[..., tuple[str, ...]]]:
    """Mount something that only commands with the prefix returned see."""
    holders: list[subprocess.Popen[str]] = []
    if os.geteuid() != 0:
        pytest.skip("needs root")

    def mount(*arguments: str | Path) -> tuple[str, ...]:
        script = 'mount "$@" && echo ready && exec sleep 600'
        holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script, "sh", *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
        )
        holders.append(holder)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        return ("nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", f"--wd={Path.cwd()}")

    yield mount
    for holder in holders:
        holder.kill()
        holder.communicate()
