"""Of which servers disturbances and changes speak: those of the file's own system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from tierlab.experiment.system import System
from tierlab.servers.base import Server
from tierlab.servers.kinds import KINDS
from tierlab.values.kinds import Kind, Text
from tierlab.values.word import Word
from tierlab.workloads.kinds import servers
from tierlab.workloads.own.tiers import NAME

PATTERN = rf"{NAME}\.[1-9][0-9]?"


def _first(software: Callable[[type[Server]], bool]) -> str:
    """What the workloads that come with Tierlab call the first server of such software."""
    return next(name for name, kind in servers() if software(kind))


DATABASE = _first(lambda kind: kind.is_database)
"""Where most is done unless said otherwise."""
APPLICATION = _first(lambda kind: kind.collects)
ENTRY = _first(lambda kind: kind.restart_signal is not None)
RESOURCES = tuple(dict.fromkeys(name for each in KINDS.values() for name in each.holdable))
"""What class `pool` can hold in one server or another."""

Subject = Annotated[str, Text(f'a server of the system, such as "{DATABASE}"', PATTERN)]
"""Which there are is the system's to say."""


@dataclass(frozen=True)
class Servers(Kind):
    """`"all"` or a list of servers."""

    def range(self) -> str:
        """`"all" or a list of servers`."""
        return f'"all" or a list of servers, such as ["{DATABASE}"]'

    def words(self) -> str:
        """The same."""
        return self.range()

    def check(self, value: object) -> tuple[str, ...] | Literal["all"]:
        """The names in their order."""
        if value == "all":
            return "all"
        if not isinstance(value, list | tuple) or not value or len(set(value)) < len(value):
            raise ValueError
        one = Text("", PATTERN)
        return tuple(one.check(each) for each in value)

    def write(self, value: tuple[str, ...] | Literal["all"]) -> str | list[str]:
        """`"all"` or the list."""
        return value if isinstance(value, str) else list(value)

    def json_schema(self) -> dict[str, Any]:
        """A word or an array of names."""
        items = Text("", PATTERN).json_schema()
        names = {"type": "array", "items": items, "uniqueItems": True, "minItems": 1}
        return {"anyOf": [{"const": "all"}, names]}


def existing(system: System) -> dict[str, type[Server]]:
    """The servers of this system, each with its software."""
    return {
        f"{name}.{number}": tier.software
        for name, tier in system.tiers.items()
        for number in range(1, tier.count + 1)
    }


def reachable(system: System) -> dict[str, type[Server]]:
    """Those that something can be done to: not what runs already, started by somebody else."""
    return {name: kind for name, kind in existing(system).items() if not kind.stands}


def entries(system: System) -> tuple[str, ...]:
    """Whom users ask for pages."""
    first = next(iter(system.tiers))
    if system.protocols[first][0] != "http" or not system.application.entry_paths:
        return ()
    return tuple(name for name in reachable(system) if name.partition(".")[0] == first)


def why_not(name: str, system: System) -> str:
    """Why a server that a file names is none of this system, as a sentence goes on; else empty."""
    tier = name.partition(".")[0]
    if (reason := system.absent.get(tier)) is not None:
        return f": {reason}"
    if tier in system.tiers and name not in existing(system):
        return f": system.{tier}.count is {system.tiers[tier].count}"
    return ""


def listed(names: tuple[str, ...] | list[str]) -> str:
    """`"web.1", "app.1" or "db.1"`."""
    return Word(tuple(names)).words()
