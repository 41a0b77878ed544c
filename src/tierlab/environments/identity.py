"""Whose is a process? Pids are used again: start time, session and a token tell."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TOKEN = "TIERLAB_LEDGER"
"""Environment variable of every process of a trial: the token of its ledger."""

BECOMING_SECONDS = 0.05
"""How long a process may take to become another program; some programs have no environment."""

LOOK_SECONDS = 0.002
"""Between two looks at one that is."""


@dataclass(frozen=True)
class Identity:
    """A process for certain: pids are used again, but not with the same start time.

    `start` is in clock ticks after boot, field 22 of proc_pid_stat(5).
    """

    pid: int
    start: int


@dataclass(frozen=True)
class Stat:
    """The fields of /proc/<pid>/stat that tell whose a process is."""

    state: str
    session: int
    start: int


def stat(pid: int) -> Stat | None:
    """Read a process's state, session and start time; None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may hold blanks and parentheses; the fields count from its end.
    fields = text[text.rindex(b")") + 2 :].split(None, 20)
    return Stat(state=fields[0].decode(), session=int(fields[3]), start=int(fields[19]))


def identify(pid: int) -> Identity:
    """Identify a process that is there for certain: oneself, or a child not waited for yet."""
    found = stat(pid)
    if found is None:
        raise RuntimeError("/proc is not mounted: Tierlab needs it to tell processes apart")
    return Identity(pid, found.start)


def is_alive(identity: Identity) -> bool:
    """Whether that very process still runs (a zombie does not)."""
    found = stat(identity.pid)
    return found is not None and found.start == identity.start and found.state not in "ZX"


def session_members(leader: Identity, token: str) -> list[int]:
    """List the living processes of a session, its leader among them.

    Linux gives no pid out anew while a session bears it, so a living leader with the right start
    time vouches for all. Without a leader, each must carry the ledger's token.
    """
    found = stat(leader.pid)
    if found is not None and found.start != leader.start:
        return []
    members = [
        pid
        for pid in _pids()
        if (member := stat(pid)) and member.session == leader.pid and member.state not in "ZX"
    ]
    return members if found is not None else carrying(members, token)


def carrying(pids: Iterable[int], token: str) -> list[int]:
    """List those that were started with this ledger's token in their environment.

    One that is becoming another program has no environment for a moment, and is looked at again
    (environ_read in Linux's fs/proc/base.c).
    """
    mark, deadline = f"{TOKEN}={token}".encode(), time.monotonic() + BECOMING_SECONDS
    found: list[int] = []
    unsure = list(pids)
    while unsure:
        read = {pid: _environment(pid) for pid in unsure}
        found += [pid for pid, text in read.items() if text and mark in text.split(b"\0")]
        unsure = [pid for pid, text in read.items() if text == b"" and _is_program(pid)]
        if time.monotonic() > deadline:
            break
        if unsure:
            time.sleep(LOOK_SECONDS)
    return found


def carriers(token: str) -> list[int]:
    """List the living processes with this ledger's token, whatever session they are in."""
    return carrying([pid for pid in _pids() if pid != os.getpid()], token)


def _environment(pid: int) -> bytes | None:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None


def _is_program(pid: int) -> bool:
    """Say whether it may have an environment: the kernel's own threads, of no session, do not."""
    found = stat(pid)
    return found is not None and found.session != 0 and found.state not in "ZX"


def _pids() -> list[int]:
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]
