"""The protocols that the laboratory reads, as experiment files call them."""

from __future__ import annotations

import re
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
    at_sockets: str | None = None
    """A pattern: file names of UNIX sockets, and names of programs, that speak it."""


PROTOCOLS: Mapping[str, Protocol] = {
    "http": Protocol("http1", at_sockets=r"(gunicorn|puma|unicorn|uvicorn|hypercorn).*"),
    "http2": Protocol("http2"),
    "fcgi": Protocol("fastcgi", port=9000, at_sockets=r"php.*(fpm|cgi).*|fcgiwrap.*"),
    "ajp": Protocol("ajp13", port=8009),
    "mysql": Protocol(
        "mysql",
        port=3306,
        speaks_sql=True,
        without_tls="ssl-mode=DISABLED",
        at_sockets=r"mysqld?(\.sock)?|mariadb.*",
    ),
    "postgresql": Protocol(
        "postgresql",
        port=5432,
        speaks_sql=True,
        without_tls="sslmode=disable",
        at_sockets=r"\.s\.PGSQL\.\d+|postgres(ql)?",
    ),
    "redis": Protocol("redis", port=6379, at_sockets=r"(redis|valkey).*"),
    "memcached": Protocol("memcached", port=11211, at_sockets=r"memcached.*"),
}


UNREAD_AT_SOCKETS = r"uwsgi.*"
"""As `Protocol.at_sockets`, of programs that speak what Tierlab does not read."""


def usual_at(socket: str, program: str = "") -> str | None:
    """The protocol that is usual at a UNIX socket of this path, or of this program's; None where
    neither name is known.
    """
    patterns = {name: each.at_sockets for name, each in PROTOCOLS.items()}
    patterns[UNREAD] = UNREAD_AT_SOCKETS
    for text in (program, socket.lstrip("@").rpartition("/")[2]):
        for protocol, pattern in patterns.items():
            if pattern is not None and re.fullmatch(pattern, text):
                return protocol
    return None


def wire(protocol: str) -> str:
    """The dissectors' name of a protocol; they have one for all that cannot be read."""
    return PROTOCOLS[protocol].wire if protocol in PROTOCOLS else UNREAD
