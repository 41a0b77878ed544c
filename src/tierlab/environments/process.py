"""Processes of a trial: told apart by pid and start time, in the ledger before they do anything.

A process starts as a small shell that waits for a word on its standard input. Only when its
identity is on the disk does it get the word, join its cgroups and become the program. Should the
laboratory die in between, the shell reads the end of its input and goes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM, pidfd_send_signal
from typing import IO, ClassVar

from tierlab.environments.identity import TOKEN, Identity, session_members, stat
from tierlab.machine.programs import search_path

_LAUNCHER = """\
read -r go || exit 125
count=$1; shift
while [ "$count" -gt 0 ]; do
  echo $$ > "$1/cgroup.procs" || exit 125
  shift; count=$((count - 1))
done
ulimit -S -n "$1" || exit 125; shift
umask 022
exec "$@" < /dev/null
"""

POLL_SECONDS = 0.02

KILL_SECONDS = 5.0
"""How long a killed process may take to be gone..."""

WAITING_SECONDS = 60.0
"""... and one that waits for a disk or, on a full machine, for a CPU: it ends when it gets it."""

MOST_FILES = 65_536
"""Soft limit of open files given to servers, where the hard limit allows as many."""


def code_map(pid: int) -> Path:
    """Where a process names what it has compiled, by its own domain's /tmp and number; perf looks
    there (tools/perf/Documentation/jit-interface.txt).
    """
    return Path(f"/tmp/perf-{pid}.map")


def remove_code_map(pid: int) -> None:
    """Remove that of a process that has ended; who may not remove it has not made it either."""
    with suppress(PermissionError):
        code_map(pid).unlink(missing_ok=True)


def end(members: Callable[[], Iterable[int]], grace: float) -> list[int]:
    """Ask processes to end, wait `grace` seconds, then kill; return those that had to be asked.

    `members` lists who is left and is asked anew each time, since processes come and go.
    """
    asked = list(members())
    if not asked:
        return []
    _signal(asked, members, SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline:
        if not list(members()):
            return asked
        time.sleep(POLL_SECONDS)
    killed = time.monotonic()
    while (left := list(members())) and time.monotonic() - killed < _allowed(left):
        _signal(left, members, SIGKILL)
        time.sleep(POLL_SECONDS)
    return asked


def _allowed(killed: Iterable[int]) -> float:
    states = {found.state for pid in killed if (found := stat(pid)) is not None}
    return WAITING_SECONDS if states & {"D", "R"} else KILL_SECONDS


def _signal(pids: Iterable[int], members: Callable[[], Iterable[int]], number: int) -> None:
    """Send a signal to those of these processes that are members still.

    To list members takes a while: one may end meanwhile, and another process get its number. So
    members are listed again once a descriptor holds each process.
    """
    with ExitStack() as held:
        handles: dict[int, int | None] = {}
        for pid in pids:
            with suppress(ProcessLookupError):
                handles[pid] = handle = _handle(pid)
                if handle is not None:
                    held.callback(os.close, handle)
        for pid in handles.keys() & set(members()):
            with suppress(ProcessLookupError):
                if (handle := handles[pid]) is None:
                    os.kill(pid, number)
                else:
                    pidfd_send_signal(handle, number)


def _handle(pid: int) -> int | None:
    """Open a descriptor of a process; None where there is none to be had."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # Linux before 5.3, a sandbox, or too many open files
        return None


class Process(ABC):
    """A program of the trial, leader of a session of its own."""

    pause: ClassVar[float] = POLL_SECONDS
    """Between two looks while it is waited for, in seconds."""

    @property
    @abstractmethod
    def pid(self) -> int:
        """Process id, as its kernel counts."""

    @property
    @abstractmethod
    def stdout(self) -> IO[bytes] | None:
        """The program's standard output, if it was asked for; who reads it closes it."""

    @abstractmethod
    def poll(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""

    def wait(self, timeout: float) -> int | None:
        """Wait up to `timeout` seconds for the end; the exit status, or None if it still runs.

        Asks now and then, unless its kind knows better.
        """
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None and time.monotonic() < deadline:
            time.sleep(self.pause)
        return status

    @abstractmethod
    def signal(self, number: int) -> None:
        """Send a signal to the program (not to its children)."""

    @abstractmethod
    def members(self) -> list[int]:
        """List the program and the living processes that it started."""

    @abstractmethod
    def stop(self, grace: float, first: int = SIGTERM) -> bool:
        """Ask the program to end with `first`; kill all that is left after `grace` seconds.

        Returns whether it ended by itself.
        """


class HostProcess(Process):
    """A program on this host."""

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        identity: Identity,
        token: str,
        gone: Callable[[], None],
    ) -> None:
        self.identity = identity
        self._popen = popen
        self._token = token
        self._gone = gone

    @property
    def pid(self) -> int:
        """Process id, on the host."""
        return self.identity.pid

    @property
    def stdout(self) -> IO[bytes] | None:
        """A pipe."""
        return self._popen.stdout

    def poll(self) -> int | None:
        """Look whether it has ended."""
        return self._popen.poll()

    def wait(self, timeout: float) -> int | None:
        """Wait for its end."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

    def signal(self, number: int) -> None:
        """Send a signal, if it runs."""
        if self._popen.poll() is None:
            os.kill(self.pid, number)

    def members(self) -> list[int]:
        """List its session."""
        self._popen.poll()
        return session_members(self.identity, self._token)

    def stop(self, grace: float, first: int = SIGTERM) -> bool:
        """End it and its session.

        Striking it off the ledger is the last step; a process that even a kill does not end (it
        hangs in the kernel) stays there.
        """
        self.signal(first)
        gently = self.wait(grace) is not None
        end(self.members, 1.0 if gently else 0.0)
        if self.wait(KILL_SECONDS) is not None:
            self._gone()
        return gently


@dataclass(frozen=True)
class Launch:
    """How to start a program: where it belongs and what it may see."""

    argv: Sequence[str]
    token: str
    cgroups: Sequence[Path] = ()
    prefix: Sequence[str] = ()
    """Programs that change namespace or user and then become the next, such as nsenter."""
    env: Mapping[str, str] | None = None
    cwd: Path | None = None
    stays: bool = False
    """Whether a program of the prefix stays, with the program proper as its child."""


def open_gate(
    launch: Launch, output: int | IO[bytes], errors: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start the waiting shell. `let_go` makes it the program; closing its input ends it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    groups = [str(group) for group in launch.cgroups]
    argv = ["/bin/sh", "-c", _LAUNCHER, "tierlab-launch", str(len(groups)), *groups, str(files)]
    base = {name: os.environ[name] for name in ("LANG", "TZ") if name in os.environ}
    # A command is checked before by what is found there.
    base["PATH"] = search_path()
    return subprocess.Popen(
        [*argv, *launch.prefix, *launch.argv],
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=errors,
        env={**base, **(launch.env or {}), TOKEN: launch.token},
        cwd=launch.cwd,
        start_new_session=True,
    )


def let_go(popen: subprocess.Popen[bytes]) -> None:
    """Let a waiting shell become its program."""
    if popen.stdin is not None:
        try:
            popen.stdin.write(b"go\n")
            popen.stdin.close()
        except BrokenPipeError:
            return
