"""What a text of a user's own may leave open until servers have their addresses: ``{db.port}``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping

from tierlab.errors import UserError
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint

OF_SERVERS = ("address", "port", "socket", "socket_folder", "user", "password", "database")
AT_SOCKET = ("socket", "socket_folder")
"""Those of a server that listens at a UNIX socket."""
AT_PORT = ("address", "port")
"""Those of a server that listens at a TCP port."""
_REFERENCE = re.compile(r"\$+[A-Za-z_][A-Za-z0-9_]*")
"""A variable's name after dollars; after more than one it is a text."""
_PLACE = re.compile(r"\{([a-z][a-z0-9]*)(?:\.([a-z_]+))?\}")


def named(text: str, tiers: Collection[str]) -> list[str]:
    """The tiers that a text speaks of, in its order."""
    return list(dict.fromkeys(each[1] for each in _PLACE.finditer(text) if each[1] in tiers))


def asked_of(text: str, tier: str) -> list[str]:
    """What a text wants to be told of a tier, such as ``port``."""
    return [each[2] for each in _PLACE.finditer(text) if each[1] == tier and each[2] is not None]


def unknown(text: str, tiers: Collection[str]) -> str | None:
    """The first that speaks of a tier's something that there is not."""
    for each in _PLACE.finditer(text):
        if each[1] in tiers and each[2] is not None and each[2] not in OF_SERVERS:
            return each[0]
    return None


def filled(
    text: str,
    own: Mapping[str, str],
    tiers: Mapping[str, Endpoint],
    login: Callable[[str], Credentials],
) -> str:
    """The text with what is known by now: `own` by name, and of each tier's first server
    ``{TIER}`` (address and port, or the socket where there is no port), ``{TIER.address}`` and so
    on. Other braces stay as they are.

    `login`: whom the database of a tier of this name lets in.
    """

    def value(place: re.Match[str]) -> str:
        name, what = place[1], place[2]
        if what is None and name in own:
            return own[name]
        if name not in tiers:
            return place[0]
        endpoint, known = tiers[name], login(name)
        of = {
            None: str(endpoint),
            "address": endpoint.address,
            "port": str(endpoint.port),
            "socket": endpoint.socket,
            "socket_folder": None if endpoint.socket is None else folder_of(endpoint.socket),
            "user": known.user,
            "password": known.password,
            "database": known.database,
        }
        found = of.get(what)
        return place[0] if found is None else found

    return _PLACE.sub(value, text)


def folder_of(socket: str) -> str:
    """The folder of a UNIX socket, which is what PostgreSQL's clients are told."""
    return socket.rpartition("/")[0] or "/"


def from_environment(name: str, value: str, key: str) -> str:
    """Return the value of a variable. ``$NAME`` is the variable of this name where Tierlab runs, so
    that no file has to hold what is secret. ``$$NAME`` is the text ``$NAME``, and ``$$$NAME`` is
    ``$$NAME``.

    `key` names the variable in the sentence of the `UserError` if there is no such variable.
    """
    if not _REFERENCE.fullmatch(value):
        return value
    if value.startswith("$$"):
        return value[1:]
    found = os.environ.get(value[1:])
    if found is None:
        raise UserError(
            f"{key}.{name}: the variable {value} is not set where Tierlab runs; export it first"
            f" (sudo drops it: sudo --preserve-env={value[1:]})."
        )
    return found


def literal(value: str) -> str:
    """Return how an experiment file writes a variable's value; `from_environment` reads it back."""
    return f"${value}" if _REFERENCE.fullmatch(value) else value
