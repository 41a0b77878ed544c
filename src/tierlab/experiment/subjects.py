"""Of which servers disturbances and changes speak: those of the file's own system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from tierlab.experiment.system import System
from tierlab.servers.base import Server
from tierlab.servers.kinds import KINDS
from tierlab.values.kinds import Kind, Text
from tierlab.values.word import Word
from tierlab.workloads.own.tiers import NAME

PATTERN = rf"{NAME}\.[1-9][0-9]?"
DATABASE = "db.1"
"""Where most is done unless said otherwise, as the workloads that come with Tierlab call it."""
APPLICATION = "app.1"
ENTRY = "web.1"
RESOURCES = tuple(dict.fromkeys(name for each in KINDS.values() for name in each.holdable))
"""What class `pool` can hold in one server or another."""

Subject = Annotated[str, Text('a server of the system, such as "db.1"', PATTERN)]
"""Which there are is the system's to say."""


@dataclass(frozen=True)
class Servers(Kind):
    """`"all"` or a list of servers."""

    def range(self) -> str:
        """`"all" or a list of servers`."""
        return '"all" or a list of servers, such as ["db.1"]'

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
