"""Which tiers are called at UNIX sockets, and where such a socket can be reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic_core import PydanticCustomError

from tierlab.experiment.problem import problem
from tierlab.servers.own_options import OwnOptions
from tierlab.servers.placeholders import AT_SOCKET, asked_of

if TYPE_CHECKING:
    from tierlab.experiment.system import System

SHARED = ("native", "host")
"""Environments in which all servers see the same files."""
IN_CONTAINERS = "podman"


def at_sockets(shape: System) -> frozenset[str]:
    """The tiers that have a socket by their tables, or of whose socket another is told.

    The socket of a database or cache that Tierlab configures is no way to call it until a command
    or a variable speaks of it: else only Tierlab's own samplers use it.
    """
    return frozenset(name for name in shape.tiers if _own(shape, name) or _told(shape, name))


def socket_problems(shape: System) -> Iterator[PydanticCustomError]:
    """Sockets that nobody else could reach: in another root, or on another kernel."""
    if shape.environment in SHARED:
        return
    for name in sorted(at_sockets(shape)):
        own = _own(shape, name) or ""
        in_image = shape.tiers[name].software.brings_root or own.startswith("@")
        if shape.environment == IN_CONTAINERS and in_image:
            continue
        yield problem(
            f'must be "native" or "host": {name} is called at a UNIX'
            f' socket, which in "{shape.environment}" no other server sees; or have it called at a'
            " port",
            "environment",
        )


def _own(shape: System, tier: str) -> str | None:
    options = shape.tiers[tier].settings.options
    return options.socket if isinstance(options, OwnOptions) else None


def _told(shape: System, tier: str) -> bool:
    texts = (
        text
        for each in shape.tiers.values()
        if isinstance(options := each.settings.options, OwnOptions)
        for text in options.texts().values()
    )
    return any(what in AT_SOCKET for text in texts for what in asked_of(text, tier))
