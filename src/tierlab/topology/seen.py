"""Calls as they were seen: which server opened connections to where, and what was spoken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.topology.protocols import UNREAD


@dataclass(frozen=True)
class Seen:
    """All connections of one server's to one place."""

    caller: str | None
    """None where they were too short to tell whose they were."""
    callee: str | None
    """The server that listens there; None where it is none of the system's."""
    address: str
    port: int
    protocol: str | None
    """As an experiment file calls it; None where it cannot be read, or nothing was said."""
    connections: int
    refused: int
    """Of those, to which nobody answered."""
    spoken: int
    """Of those, on which something was said."""
    socket: str | None = None
    """The UNIX socket to which they were, with neither address nor port; None of TCP connections.
    What is said on them is not looked at: the protocol is what is usual there."""

    @property
    def where(self) -> str:
        """To what they were."""
        return f"{self.address}:{self.port}" if self.socket is None else self.socket


def heard(seen: Sequence[Seen]) -> str:
    """What was spoken on them, in words; at UNIX sockets what is usual there."""
    usual = [each.protocol or UNREAD for each in seen if each.socket is not None]
    return " and ".join(spoken(seen) or dict.fromkeys(usual)) or "(silent)"


def spoken(seen: Sequence[Seen]) -> list[str]:
    """The protocols of those on which something was said, the most frequent first."""
    counts: dict[str, int] = {}
    for each in seen:
        if each.spoken:
            name = each.protocol or UNREAD
            counts[name] = counts.get(name, 0) + each.spoken
    # What was seen from its middle only may be unknown on some connections.
    known = {name: count for name, count in counts.items() if name != UNREAD} or counts
    return sorted(known, key=lambda name: -known[name])
