"""How a user's own servers can be reached, at a TCP port or a UNIX socket, and what may be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic_core import PydanticCustomError

from tierlab.servers.own_options import OwnOptions
from tierlab.servers.placeholders import AT_PORT, AT_SOCKET, asked_of, unknown
from tierlab.values.problem import problem


@dataclass(frozen=True)
class Reached:
    """How a server can be called."""

    at_port: bool
    at_socket: bool


def place_problems(
    own: str, texts: Mapping[str, str], servers: Mapping[str, Reached]
) -> Iterator[PydanticCustomError]:
    """Placeholders in the texts of the server `own` that no server of the file has a value for."""
    for key, text in texts.items():
        where = key.split(".", 1)
        if (place := unknown(text, servers)) is not None:
            yield problem(
                f"speaks of {place}: of a server there are address, port, socket and socket_folder,"
                " and of a database user, password and database",
                *where,
            )
        for name, reached in servers.items():
            asked = asked_of(text, name)
            if not reached.at_socket and (at := _first(asked, AT_SOCKET)) is not None:
                remedy = "say {" + name + ".address} and {" + name + ".port}"
                remedy += f', or give it one (socket = "{name}.sock")'
                yield problem(_speaks(name, at, "has no socket", remedy), *where)
            if not reached.at_port and reached.at_socket and (at := _first(asked, AT_PORT)):
                remedy = "say {" + name + ".socket}"
                yield problem(_speaks(name, at, "listens at a socket alone", remedy), *where)
        is_told = "{socket}" in text and own in servers and "socket" not in servers
        if is_told and not servers[own].at_socket:
            yield problem(
                f'speaks of {{socket}}, and {own} has none; say socket = "{own}.sock"', *where
            )


def _first(asked: list[str], of: tuple[str, ...]) -> str | None:
    return next((each for each in asked if each in of), None)


def _speaks(name: str, what: str, why: str, remedy: str) -> str:
    return f"speaks of {{{name}.{what}}}, and {name} {why}; {remedy}"


def own_socket_problems(options: OwnOptions, count: int) -> Iterator[PydanticCustomError]:
    """What is wrong with where a server is to bind its socket."""
    socket = options.socket
    if socket is None:
        return
    if socket.endswith("/") or ".." in PurePosixPath(socket).parts:
        yield problem("must name a file in a folder, without ..", "socket")
    if count > 1 and socket[0] in "/@":
        yield problem(
            f"is one place for {count} servers; say a path in each one's folder, such as"
            f' "{socket.lstrip("@").rpartition("/")[2]}"',
            "socket",
        )
