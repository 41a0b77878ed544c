"""Where a server listens."""

from __future__ import annotations

from dataclasses import dataclass

UNCALLED = "none"
"""The protocol of a server that nobody calls, whose port is 0."""


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens, and which protocol is spoken there, such as ``http``."""

    address: str
    port: int
    """0 of a server that listens at no TCP port."""
    protocol: str
    socket: str | None = None
    """The UNIX socket at which it listens, instead of the port or besides, as the server binds it:
    a path, or "@" and a name in the abstract space (unix(7))."""

    @property
    def listens(self) -> bool:
        """Whether anybody can call there: a worker only calls others."""
        return self.protocol != UNCALLED

    def __str__(self) -> str:
        if self.socket is not None and not self.port:
            return self.socket
        return f"{self.address}:{self.port}"
