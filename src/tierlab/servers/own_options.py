"""What a file says of a server of the user's own, whoever starts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from tierlab.servers.base import Options
from tierlab.servers.endpoint import Endpoint
from tierlab.topology import PROTOCOLS, UNREAD, usual_at
from tierlab.values.kinds import Duration, Text, Whole
from tierlab.values.quantities import SECOND
from tierlab.values.word import Word

USUAL_PORTS: Mapping[int, str] = {
    each.port: name for name, each in PROTOCOLS.items() if each.port is not None
}
"""Ports that a protocol is known by."""
FOUND = "found"
"""Instead of a protocol, or of whom a server calls: it is seen before a run."""

ADDRESS = Text(
    "an IPv4 address, such as 127.0.0.1", r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}"
)
PORT = Whole(1, 65_535)
SOCKET = Text(
    'the path of a UNIX socket, such as app.sock or /run/app.sock, or "@" and an abstract name',
    r"@[A-Za-z0-9._/+:=@-]{1,106}|/?[A-Za-z0-9._+=-][A-Za-z0-9._/+=@-]{0,105}",
)
PATH = Text('a path that begins with "/"', r"/[\x21-\x7e]{0,1000}")
HOST = Text(
    "a host's name, such as shop.example, with its port if it has one",
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?::\d{1,5})?",
)


class OwnOptions(Options):
    """Where a server of the user's own listens, and how it is known to work."""

    port: Annotated[int | None, PORT] = Field(default=None, examples=[8080])
    """The TCP port that it listens on. A server that a command starts may have none: a worker that
    nobody calls and that calls others, as one does that takes jobs from a queue."""

    socket: Annotated[str | None, SOCKET] = Field(default=None, examples=["/run/php/app.sock"])
    """The UNIX socket that it listens on, instead of a port or besides. The first server has a
    port, since users call it. Of a command's, a path that does not begin with "/" begins in its
    working folder."""

    protocol: Annotated[str | None, Word((*PROTOCOLS, UNREAD, FOUND))] = Field(
        default=None, examples=["http"]
    )
    """What it speaks; without it, what is usual on that port or at a socket of that name, or http.
    Of tcp, and of what Tierlab does not read, it sees who waits for whom and how long, and no more.
    "found": Tierlab looks, before a run."""

    ready: Annotated[str | None, PATH] = Field(default=None, examples=["/health"])
    """A page with which it answers, with a status of success, once it can work; without it, it is
    ready when it takes connections."""

    host: Annotated[str | None, HOST] = Field(default=None, examples=["shop.example"])
    """The name that requests to it have as their Host, users' and that of `ready`: for a server
    that has several sites, or takes no other name. Without it, its address and port. Links to that
    name stay on the site."""

    within_ns: Annotated[int, Duration("1s", "1h")] = Field(default=60 * SECOND, alias="within")
    """How long it may take until it is ready."""

    def speaks(self) -> str:
        """The protocol, said or usual."""
        said = None if self.protocol == FOUND else self.protocol
        at_socket = None if self.socket is None else usual_at(self.socket)
        return said or USUAL_PORTS.get(self.port or 0) or at_socket or "http"

    @property
    def listens(self) -> bool:
        """Whether it listens anywhere."""
        return self.port is not None or self.socket is not None

    def called(self, endpoint: Endpoint) -> str:
        """What requests to it, there, have as their Host."""
        return self.host or (str(endpoint) if endpoint.port else "localhost")

    def texts(self) -> dict[str, str]:
        """What may speak of other servers, by its key."""
        return {}


def host_of(options: Options) -> str | None:
    """By what name a server is asked, where a file says."""
    return options.host if isinstance(options, OwnOptions) else None
