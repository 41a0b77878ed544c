"""Whose is a process? Pids are used again: start time, session and a token tell."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TOKEN = "TIERLAB_LEDGER"
"""Environment variable of every process of a trial: the token of its ledger."""


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
    vouched = found is not None
    members = []
    for pid in _pids():
        member = stat(pid)
        if member is None or member.session != leader.pid or member.state in "ZX":
            continue
        if vouched or carries(pid, token):
            members.append(pid)
    return members


def carries(pid: int, token: str) -> bool:
    """Whether a process was started with this ledger's token in its environment."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return f"{TOKEN}={token}".encode() in environment.split(b"\0")


def carriers(token: str) -> list[int]:
    """List the living processes with this ledger's token, whatever session they are in."""
    return [pid for pid in _pids() if pid != os.getpid() and carries(pid, token)]


def _pids() -> list[int]:
    with os.scandir("/proc") as entries:
        return [int(entry.name) for entry in entries if entry.name.isdigit()]
