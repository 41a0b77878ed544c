"""Programs that were entered into a PID namespace, behind a process that waits for them."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from signal import SIGCONT, SIGSTOP

import psutil

from tierlab.environments.identity import stat
from tierlab.environments.process import HostProcess, Process

SETTLE_SECONDS = 1.0
"""How long who waits for a program may take to do so, on a full machine."""
SETTLE_PAUSE = 0.001


class EnteredProcess(HostProcess):
    """A program in a PID namespace of its own: child of the one that entered it (nsenter(1)).

    That one waits, and ends as the program did: with its status, or by its signal.
    """

    @property
    def pid(self) -> int:
        """The program's process id, on the host; until it is there that of who enters it."""
        return next((child.pid for child in self._children()), self.identity.pid)

    def poll(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        self._wake()
        return super().poll()

    def wait(self, timeout: float) -> int | None:
        """Wait up to `timeout` seconds for the end, and wake who waits for it meanwhile."""
        return Process.wait(self, timeout)

    def signal(self, number: int) -> None:
        """Send a signal to the program itself; who waits for it would not pass it on.

        Until the namespace is entered there is no child yet: then to the one that is to become it.
        """
        if self._popen.poll() is not None:
            return
        if number == SIGSTOP:
            self._settle()
        children = self._children()
        if not children:
            os.kill(self.identity.pid, number)
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.send_signal(number)
        self._wake()

    def _settle(self) -> None:
        """Wait until who waits sleeps: once it wakes it continues the program, which would undo a
        stop that comes before.
        """
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            found = stat(self.identity.pid)
            if found is None or found.state == "S" or self._is_stopped():
                return
            self._wake()
            time.sleep(SETTLE_PAUSE)

    def _wake(self) -> None:
        """Continue who waits: it stopped because its child was, and nobody else wakes it."""
        found = stat(self.identity.pid)
        if found is None or found.state != "T":
            return
        if not self._is_stopped():
            os.kill(self.identity.pid, SIGCONT)

    def _is_stopped(self) -> bool:
        """Whether the program is, and not only who waits for it."""
        children = (stat(child.pid) for child in self._children())
        return any(child is not None and child.state == "T" for child in children)

    def _children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.identity.pid).children()
        except psutil.NoSuchProcess:
            return []
