"""Who is connected to which UNIX socket: looked at again and again while servers run.

A look is a snapshot: it misses connections that open and close between two looks.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tierlab.environments.unix.owners import holders, program
from tierlab.environments.unix.table import Table, UnixSocket
from tierlab.errors import UserError

Processes = Callable[[], Mapping[str, Collection[int]]]
"""The processes of each server, by its name."""

PLUMBING = ("/run/systemd/", "/run/dbus/", "/run/user/", "/run/nscd/", "/dev/log")
"""Where the system's own services listen: no application waits there for an answer of its own."""


@dataclass
class UnixCall:
    """The connections of one server to one UNIX socket."""

    caller: str
    socket: str
    callee: str | None
    """The server that accepted them; None where it is none of those looked at."""
    pids: set[int] = field(default_factory=set)
    """The processes that accepted them."""
    program: str | None = None
    """What these run; None where that is not known."""
    connections: int = 0


@dataclass(frozen=True)
class _Connection:
    client: int
    server: int
    path: str
    listening: tuple[int, ...]
    """The sockets at which it was accepted: they outlive a connection that is over at once."""

    @property
    def server_ends(self) -> tuple[int, ...]:
        """The accepted socket first."""
        return self.server, *self.listening


class UnixCalls:
    """What was seen so far, by caller and socket."""

    def __init__(self, processes: Processes, share: float = 1.0) -> None:
        """`share`: upper bound on the part of a CPU for asking which processes servers have."""
        self._processes, self._share = processes, share
        self._pids: Mapping[str, Collection[int]] = {}
        self._next_pids = 0.0
        self._tables: dict[int, Table] = {}
        self._known: set[int] = set()
        self.found: dict[tuple[str, str], UnixCall] = {}

    def look(self) -> float:
        """Look once; the CPU time that it took, in seconds, beside asking for processes.

        OSError where the kernel cannot tell.
        """
        self._know_processes()
        began = time.thread_time()
        self._look()
        return time.thread_time() - began

    def _look(self) -> None:
        sockets = [each for table in self._tables.values() for each in table.sockets()]
        connections = list(_connections(sockets))
        self._known &= {each.client for each in connections}
        new = [each for each in connections if each.client not in self._known]
        if not new:
            return
        inodes = {inode for each in new for inode in (each.client, *each.server_ends)}
        names = {pid: name for name, pids in self._pids.items() for pid in pids}
        owners = holders(inodes, names)
        for each in new:
            self._known.add(each.client)
            self._add(each, owners, names)

    def close(self) -> None:
        """Close the ways to the kernel."""
        while self._tables:
            self._tables.popitem()[1].close()

    def _know_processes(self) -> None:
        if time.monotonic() < self._next_pids:
            return
        began = time.thread_time()
        self._pids = self._processes()
        # Of this process, too: a server of the host's is called from a trial's own network.
        for pid in {os.getpid(), *(pid for pids in self._pids.values() for pid in pids)}:
            process = Path(f"/proc/{pid}")
            try:
                namespace = (process / "ns" / "net").stat().st_ino
                if namespace not in self._tables:
                    self._tables[namespace] = Table(process)
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue  # it has ended, or is another user's
        self._next_pids = time.monotonic() + (time.thread_time() - began) / self._share

    def _add(
        self, each: _Connection, owners: Mapping[int, list[int]], names: Mapping[int, str]
    ) -> None:
        callers = [names[pid] for pid in owners.get(each.client, ())]
        if not callers:
            return
        callees = _accepting(each, owners)
        if callers[0] in [names[pid] for pid in callees]:
            return  # a server's processes among themselves
        callee = names[callees[0]] if callees else None
        key = (callers[0], each.path)
        call = self.found.setdefault(key, UnixCall(*key, callee))
        call.callee = call.callee or callee
        call.connections += 1
        if call.program is None:
            callees = callees or _accepting(each, holders(each.server_ends))
            call.program = next((name for pid in callees if (name := program(pid))), None)
        call.pids |= {*callees}


def _accepting(each: _Connection, owners: Mapping[int, list[int]]) -> list[int]:
    """The processes that accepted a connection; where it is over, those that listen there."""
    return next((owners[inode] for inode in each.server_ends if inode in owners), [])


def _connections(sockets: Sequence[UnixSocket]) -> Iterator[_Connection]:
    """Those that a server has accepted: only its end has the name that it has bound."""
    listening: dict[str, tuple[int, ...]] = {}
    for each in sockets:
        if each.name and each.listens:
            listening[each.name] = (*listening.get(each.name, ()), each.inode)
    for each in sockets:
        if each.name and each.peer and not each.listens and not is_plumbing(each.name):
            listened = listening.get(each.name, ())
            yield _Connection(each.peer, each.inode, each.name, listened)


def is_plumbing(path: str) -> bool:
    """Whether a service of the system itself listens there."""
    return path.removeprefix("/var").startswith(PLUMBING)


class UnixCallWatcher:
    """Looks every `interval_s` seconds in a thread of its own.

    `share`: upper bound on the part of a CPU for looking, and for asking which processes there are.
    """

    def __init__(self, processes: Processes, interval_s: float, share: float) -> None:
        self._calls = UnixCalls(processes, share)
        self._interval_s, self._share = interval_s, share
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self.not_seen: str | None = None
        """Why nothing more was seen; None where all looks worked."""

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._run, name="unix calls", daemon=True)
        self._thread.start()

    def stop(self) -> list[UnixCall]:
        """Look a last time and end; what was seen, by caller and socket."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._end.set()
            thread.join()
            self._calls.close()
        return sorted(self._calls.found.values(), key=lambda each: (each.caller, each.socket))

    def _run(self) -> None:
        while self.not_seen is None:
            is_last, took = self._end.is_set(), 0.0
            try:
                took = self._calls.look()
            except OSError as error:
                self.not_seen = f"the kernel lists no UNIX sockets ({error.strerror or error})"
            except (UserError, psutil.Error) as error:
                self.not_seen = str(error)
            if is_last:
                return
            self._end.wait(max(self._interval_s, took / self._share))
