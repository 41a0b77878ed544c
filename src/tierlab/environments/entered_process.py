"""Programs that were entered into a PID namespace, behind a process that waits for them."""

from __future__ import annotations

import os
from contextlib import suppress
from signal import SIGCONT, Signals

import psutil

from tierlab.environments.identity import stat
from tierlab.environments.process import HostProcess, Process


class EnteredProcess(HostProcess):
    """A program in a PID namespace of its own: child of the one that entered it (nsenter(1)).

    That one waits, and ends as the program did: with its status, or by its signal.
    """

    def poll(self) -> int | None:
        """Exit status, negative for a signal; None while it runs."""
        self._wake()
        return super().poll()

    def wait(self, timeout: float) -> int | None:
        """Wait up to `timeout` seconds for the end, and wake who waits for it meanwhile."""
        return Process.wait(self, timeout)

    def signal(self, number: Signals) -> None:
        """Send a signal to the program itself; who waits for it would not pass it on.

        Until the namespace is entered there is no child yet: then to the one that is to become it.
        """
        if self._popen.poll() is not None:
            return
        children = self._children()
        if not children:
            os.kill(self.pid, number)
        for child in children:
            with suppress(psutil.NoSuchProcess):
                child.send_signal(number)
        self._wake()

    def _wake(self) -> None:
        """Continue who waits: it stopped because its child was, and nobody else wakes it."""
        found = stat(self.pid)
        if found is None or found.state != "T":
            return
        children = [stat(child.pid) for child in self._children()]
        if not any(child is not None and child.state == "T" for child in children):
            os.kill(self.pid, SIGCONT)

    def _children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.pid).children()
        except psutil.NoSuchProcess:
            return []
