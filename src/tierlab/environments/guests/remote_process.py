"""Programs of a trial on a kernel that is not this host's: whoever is there is asked for all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from signal import SIGTERM
from typing import IO, ClassVar

from tierlab.environments.process import KILL_SECONDS, Process

SHELL = "/bin/sh"


class RemoteProcess(Process):
    """One of them; what differs is who is asked, and by what its members are known."""

    unanswered: ClassVar[type[Exception]]
    """What a command raises that nobody there takes."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._status: int | None = None

    @property
    def pid(self) -> int:
        """Process id, as its own kernel counts."""
        return self._pid

    @property
    def stdout(self) -> IO[bytes] | None:
        """None: it does not leave its kernel but by a log."""
        return None

    def poll(self) -> int | None:
        """Ask there, until it has ended."""
        if self._status is None:
            self._status = self._ended()
        return self._status

    def signal(self, number: int) -> None:
        """Have it sent there, if it runs."""
        if self.poll() is None:
            self._have_run([SHELL, "-c", f'kill -{int(number)} "$1"', "kill", str(self._pid)])

    def stop(self, grace: float, first: int = SIGTERM) -> bool:
        """End it, and what it started; who no longer answers has ended them."""
        try:
            self.signal(first)
            gently = self.wait(grace) is not None
            self._end_members()
        except self.unanswered:
            gently = False
        self.wait(KILL_SECONDS)
        return gently

    @abstractmethod
    def _ended(self) -> int | None:
        """Ask for its exit status: None while it runs, SIGKILL's if its kernel is gone."""

    @abstractmethod
    def _have_run(self, argv: Sequence[str]) -> None:
        """Have a small command run beside it."""

    @abstractmethod
    def _end_members(self) -> None:
        """Kill it and what it started, and wait until they are gone."""
