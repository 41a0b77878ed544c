"""Services whose place another server takes: of them their names and who calls them are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tierlab.servers.image import Image
from tierlab.servers.kinds import KINDS


def takes_place(own: Mapping[str, Any]) -> bool:
    """Whether a table of an experiment file is of another server than the service."""
    return "address" in own or own.get("server", Image.kind) != Image.kind


def calls_nobody(own: Mapping[str, Any]) -> bool:
    """Whether it is a database or a cache that Tierlab configures."""
    return bool(_ports(own))


def spoken(own: Mapping[str, Any]) -> dict[str, Any]:
    """The port and the protocol of such a server, as far as they are known."""
    known = next(({"port": each[1], "protocol": each[0]} for each in _ports(own).items()), {})
    said = {key: own[key] for key in ("port", "protocol") if isinstance(own.get(key), str | int)}
    return {**known, **said}


def _ports(own: Mapping[str, Any]) -> Mapping[str, int]:
    kind = KINDS.get(str(own.get("server")))
    return {} if kind is None else kind.ports
