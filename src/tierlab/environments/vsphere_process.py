"""Programs of a trial in a virtual machine; known there by a word in their environment."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import IO

from tierlab.environments.process import KILL_SECONDS, MOST_FILES, Process
from tierlab.environments.vsphere_guest import SHELL, GuestAbsentError, GuestOperations
from tierlab.errors import UserError

WORD = "TIERLAB_PROGRAM"
"""The variable that a program is known by. Not that of the ledger's token: an agent that finds it
ends with its parent, which here is a shell of the vCenter's that ends at once."""
COMMAND_SECONDS = 60.0
"""For a small command in a guest."""
POLL_SECONDS = 0.1
"""Between two looks: each is a call to the vCenter."""

_ENTER = """\
folder=$1 log=$2 pid=$3 most=$4; shift 4
cd "$folder" || exit 125
hard=$(ulimit -H -n)
[ "$hard" -le "$most" ] 2>/dev/null || hard=$most
ulimit -S -n "$hard"
exec >>"$log" 2>&1 </dev/null || exit 125
echo $$ >"$pid.new" && mv "$pid.new" "$pid" || exit 125
exec env "$@"
"""
"""Becomes the program, once its number is written down."""

_BEGUN = """\
tries=1000
until [ -s "$1" ] || [ $tries = 0 ]; do sleep 0.02; tries=$((tries - 1)); done
cat "$1" && rm "$1"
"""
_MEMBERS = 'cd /proc && grep -lz "$1" [0-9]*/environ 2>/dev/null | cut -d/ -f1'
_END = f"""\
while all=$({_MEMBERS}) && [ -n "$all" ]; do kill -KILL $all 2>/dev/null; sleep 0.02; done
"""
"""A program is known by what it was started with, whatever it became since."""


class VsphereProcess(Process):
    """A program that the vCenter had started."""

    def __init__(self, guest: GuestOperations, number: int, word: str, pid: int) -> None:
        """`number`: at the vCenter. `word`: what its environment, and that of all that it starts,
        is known by (see `members`).
        """
        self._guest = guest
        self._number = number
        self._word = word
        self._pid = pid
        self._status: int | None = None

    @property
    def pid(self) -> int:
        """Process id, in the guest."""
        return self._pid

    @property
    def stdout(self) -> IO[bytes] | None:
        """None: it does not leave the guest but by a log."""
        return None

    def poll(self) -> int | None:
        """Ask the vCenter; with a guest that is gone, its programs were killed."""
        if self._status is None:
            try:
                self._status = self._guest.ended(self._number)
            except GuestAbsentError:
                self._status = -SIGKILL
        return self._status

    def wait(self, timeout: float) -> int | None:
        """Ask now and then."""
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return status

    def signal(self, number: Signals) -> None:
        """Send a signal inside the guest, if it runs."""
        if self.poll() is None:
            kill = [SHELL, "-c", f'kill -{int(number)} "$1"', "kill", str(self._pid)]
            self._guest.succeeds(kill, COMMAND_SECONDS)

    def members(self) -> list[int]:
        """List those with its word."""
        return members(self._guest, self._word)

    def stop(self, grace: float, first: Signals = SIGTERM) -> bool:
        """End it, and what it started."""
        try:
            self.signal(first)
            gently = self.wait(grace) is not None
            end_all(self._guest, self._word)
        except GuestAbsentError:
            gently = False
        self.wait(KILL_SECONDS)
        return gently


def start(
    guest: GuestOperations,
    argv: Sequence[str],
    *,
    word: str,
    folder: Path,
    log: Path,
    env: Mapping[str, str] | None = None,
) -> VsphereProcess:
    """Start a program in a folder, its words appended to a log; `word` tells it from others."""
    pid = guest.passing().with_suffix(".pid")
    words = [f"{name}={value}" for name, value in {**(env or {}), WORD: word}.items()]
    enter = [SHELL, "-c", _ENTER, "enter", str(folder), str(log), str(pid), str(MOST_FILES)]
    number = guest.start([*enter, *words, *argv])
    return VsphereProcess(guest, number, f"^{WORD}={word}$", _begun(guest, pid, argv[0]))


def members(guest: GuestOperations, word: str) -> list[int]:
    """List the processes with such a word in their environment: a regular expression."""
    done = guest.run([SHELL, "-c", _MEMBERS, "members", word], COMMAND_SECONDS)
    return sorted(map(int, done.stdout.split())) if done is not None else []


def end_all(guest: GuestOperations, word: str) -> None:
    """Kill them all, and wait until they are gone."""
    guest.succeeds([SHELL, "-c", _END, "end", word], COMMAND_SECONDS)


def _begun(guest: GuestOperations, file: Path, program: str) -> int:
    """The process id of a program that was started, by its own word."""
    done = guest.run([SHELL, "-c", _BEGUN, "begun", str(file)], COMMAND_SECONDS)
    if done is None or done.status != 0:
        raise UserError(f"'{program}' does not begin in its guest; look whether its disk has room.")
    return int(done.stdout)
