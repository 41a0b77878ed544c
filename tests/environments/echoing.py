"""A user of a server that echoes, who notices when it stands still and what it loses."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tierlab.environments.environment import Environment

PORT = 7777
EVERY_S = 0.01
PATIENCE_S = 60.0
"""Where even the host is emulated, a guest may take long for a little."""


def echo_server(address: str) -> Sequence[str]:
    """The command that runs it."""
    return ["socat", f"TCP-LISTEN:{PORT},bind={address},fork", "PIPE"]


def connected(environment: Environment, address: str) -> socket.socket:
    """A connection, as soon as the server listens."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return environment.connect(address, PORT, timeout=5)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@dataclass
class Client:
    """Sends a numbered request every 10 ms over one connection, and notes each answer."""

    link: socket.socket
    sent: int = 0
    answered: list[tuple[float, int]] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Client:
        self.link.settimeout(PATIENCE_S)
        self._threads = [threading.Thread(target=each) for each in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(0.5)
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _send(self) -> None:
        while not self._over.wait(EVERY_S):
            self.link.sendall(f"{self.sent:07}\n".encode())
            self.sent += 1
        self.link.shutdown(socket.SHUT_WR)

    def _receive(self) -> None:
        with self.link.makefile("rb") as lines:
            for line in lines:
                self.answered.append((time.monotonic(), int(line)))

    @property
    def gap(self) -> float:
        """The longest time without an answer, in seconds."""
        return max(after - before for (before, _), (after, _) in pairwise(self.answered))
