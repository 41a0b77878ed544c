"""The protocols that the laboratory reads, as experiment files call them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

TLS = "tls"
"""What stands for a protocol that is encrypted."""
UNREAD = "tcp"
"""What stands for one that cannot be read: only the turns are told."""


@dataclass(frozen=True)
class Protocol:
    """What is known of a protocol besides its dissector."""

    wire: str
    """The dissector's name of it."""
    port: int | None = None
    """A port that it is known by."""
    speaks_sql: bool = False
    """Whether statements of SQL are its requests."""
    without_tls: str | None = None
    """What in a client's settings has it go without TLS, where clients may ask for it."""


PROTOCOLS: Mapping[str, Protocol] = {
    "http": Protocol("http1"),
    "http2": Protocol("http2"),
    "fcgi": Protocol("fastcgi", port=9000),
    "ajp": Protocol("ajp13", port=8009),
    "mysql": Protocol("mysql", port=3306, speaks_sql=True, without_tls="ssl-mode=DISABLED"),
    "postgresql": Protocol("postgresql", port=5432, speaks_sql=True, without_tls="sslmode=disable"),
    "redis": Protocol("redis", port=6379),
    "memcached": Protocol("memcached", port=11211),
}


def wire(protocol: str) -> str:
    """The dissectors' name of a protocol; they have one for all that cannot be read."""
    return PROTOCOLS[protocol].wire if protocol in PROTOCOLS else UNREAD
