"""Soft resources as servers declare them: a thread pool, connection pool or queue limit.

Each has the field's name for it and the server's own directive. The experiment's schema, its error
sentences and the reference page are made from these declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tierlab.values.kinds import Kind, Whole


@dataclass(frozen=True)
class SoftResource:
    """A limit by its name: its kind (with range), its default and what it bounds.

    `default` None means derived from the others; `meaning` says how. One that is `resizable` takes
    another limit while the server runs.
    """

    name: str
    kind: Kind
    default: int | None
    directive: str
    meaning: str
    resizable: bool = False


class SoftError(ValueError):
    """A limit that the server cannot have; the message goes on from its name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


def declared(*resources: SoftResource) -> Mapping[str, SoftResource]:
    """By name, in their order."""
    return MappingProxyType({resource.name: resource for resource in resources})


def backlog(default: int, directive: str, name: str = "backlog") -> SoftResource:
    """The queue of connections that every server has which listens."""
    return SoftResource(
        name,
        Whole(1, 65_535),
        default,
        directive,
        "connections that may wait to be accepted; the kernel caps it at net.core.somaxconn",
    )


def completed(resources: Iterable[SoftResource], given: Mapping[str, int]) -> dict[str, int]:
    """Every limit: as given, or by default; what is derived is left out."""
    soft = {}
    for resource in resources:
        value = given.get(resource.name, resource.default)
        if value is not None:
            soft[resource.name] = value
    return soft
