"""What a workload declares: its tiers and calls, its data, its pages and its users."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

from tierlab.environments.environment import Environment
from tierlab.servers.base import Server
from tierlab.servers.content import Content, Fidelity
from tierlab.tables.rules import RunRules
from tierlab.values.section import Section


@dataclass(frozen=True)
class TierDeclaration:
    """A layer of the application: the software that may be there, and whom it calls."""

    meaning: str
    software: tuple[type[Server], ...]
    """The usual one first."""
    calls: tuple[str, ...] = ()
    """Tiers."""
    most: int = 1
    """Instances."""
    instances: str = "Instances."
    """What they are together."""
    own: type[Section] | None = None
    """Keys that only this tier has."""
    names: tuple[str, ...] = ()
    """Names besides its own by which servers with a root of their own find it."""


@dataclass(frozen=True)
class DataKey:
    """Which data: `scale` 1.0 is the published size; they end the day before `load_day`.

    Equal keys mean equal data.
    """

    scale: float
    seed: int
    load_day: date


class Workload(ABC):
    """An application, its data and its users."""

    name: ClassVar[str]
    tiers: ClassVar[Mapping[str, TierDeclaration]]
    """By name, in a request's order; users call the first, each one server of it."""
    mixes: ClassVar[tuple[str, ...]] = ()
    """Published ones; none where there is one kind of user."""
    usual_mix: ClassVar[str | None] = None
    users_speak: ClassVar[str] = "http"
    """The protocol by which users call the first tier."""
    own_think: ClassVar[bool] = False
    """Whether its users' think times are its own, whatever the load's is; of a log all but those
    between two visits."""
    has_log: ClassVar[bool] = False
    """Whether it has an access log, whose requests can be sent again at their times."""
    tables: ClassVar[Mapping[str, type[Section]]] = {}
    """Tables of the system's that only this workload has."""
    keys: ClassVar[type[Section] | None] = None
    """Keys of the system's that only this workload has."""
    any_tier: ClassVar[TierDeclaration | None] = None
    """A tier that a file names itself, where the workload leaves that to files."""
    lockable: ClassVar[tuple[str, ...]] = ()
    """Tables whose rows pages need."""
    users_call: ClassVar[tuple[str, ...]] = ()
    """Tiers that users call beside the first."""
    form_path: ClassVar[str] = ""
    """A page that reads a POSTed form before it can answer."""
    entry_paths: ClassVar[Sequence[str]] = ()
    """What anybody can ask for who comes anew; the last costs least."""
    cycle_ns: ClassVar[int | None] = None
    """Mean time from the start of an interaction to the start of the next; None where users think
    in between for as long as the experiment says.
    """
    hands_on_traces: ClassVar[bool] = False
    """Whether its application reads the header `traceparent` and hands the trace on to the servers
    that it calls."""
    finds_calls: ClassVar[frozenset[str]] = frozenset()
    """Tiers of which no file says whom they call: that has to be seen."""
    finds_protocols: ClassVar[frozenset[str]] = frozenset()
    """The same of what they speak."""
    place: ClassVar[Path | None] = None
    """Where what it consists of lies; None where it is all made when it is wanted."""
    files: ClassVar[Mapping[Path, str]] = {}
    """What its servers need besides their programs, each with the Debian package that brings it."""
    libraries: ClassVar[Path | None] = None
    """The libraries that the application brings, with its server where that is one of them."""

    def absent(self, servers: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, str]:  # noqa: ARG002
        """Tiers that a system with these servers and counts by tier has not, each with the reason.

        Who would call an absent tier calls whom that would call.
        """
        return {}

    def callees(self, tier: str, absent: Collection[str]) -> tuple[str, ...]:
        """The tiers that a tier calls, those behind an absent one in its place."""
        found: list[str] = []
        for callee in self.tiers[tier].calls:
            found += self.callees(callee, absent) if callee in absent else [callee]
        return tuple(dict.fromkeys(found))

    def most_users(self, scale: float) -> int | None:  # noqa: ARG002
        """How many users there may be at once with data of this scale; None for any number."""
        return None

    def described(self, tables: Mapping[str, Any]) -> Workload:  # noqa: ARG002
        """The workload whose tiers a file's tables describe; itself where it knows its own."""
        return self

    def notes(self) -> tuple[str, ...]:
        """What was not understood, or is only surmised, of the files that it was brought with: a
        sentence each.
        """
        return ()

    def rules(self, mix: str) -> RunRules | None:  # noqa: ARG002
        """The rules by which a run passes: what each operation may take, the mix, the delays, and
        what pages have to hold; None where the benchmark has none.
        """
        return None

    @abstractmethod
    def check(self) -> None:
        """Raise `UserError` if it is not built."""

    @abstractmethod
    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:
        """What its servers serve, behind a password of its own."""

    @abstractmethod
    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:
        """The workload description, in the driver's form."""

    def replayed(self) -> dict[str, Any]:
        """The same with the visits of its access log, where it `has_log`."""
        raise NotImplementedError(f"{self.name} has no access log")
