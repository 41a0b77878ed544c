"""Programs of a trial in a virtual machine; known there by a word in their environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from signal import SIGKILL

from tierlab.environments.guests.remote_process import SHELL, RemoteProcess
from tierlab.environments.process import MOST_FILES
from tierlab.environments.vsphere.guest import GuestAbsentError, GuestOperations
from tierlab.errors import UserError

WORD = "TIERLAB_PROGRAM"
"""The variable that a program is known by. Not that of the ledger's token: an agent that finds it
ends with its parent, which here is a shell of the vCenter's that ends at once."""
COMMAND_SECONDS = 60.0
"""For a small command in a guest."""

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


class VsphereProcess(RemoteProcess):
    """A program that the vCenter had started."""

    unanswered = GuestAbsentError
    pause = 0.1  # each look is a call to the vCenter

    def __init__(self, guest: GuestOperations, number: int, word: str, pid: int) -> None:
        """`number`: at the vCenter. `word`: what its environment, and that of all that it starts,
        is known by (see `members`).
        """
        super().__init__(pid)
        self._guest = guest
        self._number = number
        self._word = word

    def members(self) -> list[int]:
        """List those with its word."""
        return members(self._guest, self._word)

    def _ended(self) -> int | None:
        try:
            return self._guest.ended(self._number)
        except GuestAbsentError:
            return -SIGKILL

    def _have_run(self, argv: Sequence[str]) -> None:
        self._guest.succeeds(argv, COMMAND_SECONDS)

    def _end_members(self) -> None:
        end_all(self._guest, self._word)


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
