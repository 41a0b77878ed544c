"""`[[change]]`: what a server may use is changed while the trial runs, to see what that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from tierlab.experiment.load import Phases
from tierlab.experiment.neighbours import Neighbours
from tierlab.experiment.place import PLACE
from tierlab.experiment.problem import problem, raise_all
from tierlab.experiment.subjects import DATABASE, PATTERN, listed, reachable, why_not
from tierlab.experiment.system import System
from tierlab.machine.mapping import HOSTS, Host
from tierlab.values.kinds import Duration, Numbers, Size, Text, Whole
from tierlab.values.quantities import format_duration
from tierlab.values.section import Section

NEIGHBOURS = "neighbours"
SUBJECT = Text(
    f'a server of the system, such as "{DATABASE}", or "{NEIGHBOURS}"', f"({PATTERN}|{NEIGHBOURS})"
)


class Change(Section):
    """A change of one server's placement, limits or soft resources, or of what the neighbours do,
    read back once it is made."""

    at_ns: Annotated[int, Duration("0s", "24h")] = Field(alias="at", examples=["20s"])
    """When, from the start of the runtime."""

    on: Annotated[str, SUBJECT] = Field(examples=[DATABASE])
    """The server, or the neighbours."""

    pus: Annotated[tuple[int, ...] | None, Numbers(0, 4095)] = Field(default=None, examples=[[0]])
    """PUs that it may run on from then, by Linux's CPU numbers."""

    place: Annotated[str | None, PLACE] = Field(default=None, examples=["package:0.core:{n}"])
    """The same by where they are, in hwloc's words."""

    weight: Annotated[int | None, Whole(16, 100_000)] = Field(default=None, examples=[2048])
    """Its share of contended CPU time; 1024 is the usual."""

    memory: Annotated[int | None, Size("16MiB", "64TiB")] = Field(default=None, examples=["2GiB"])
    """Memory that it may use."""

    memory_node: Annotated[int | None, Whole(0, 1023)] = Field(default=None, examples=[0])
    """NUMA node that its memory moves to."""

    host: Host | None = Field(default=None, examples=["second"])
    """Host that it moves to while it runs; all servers start on the first."""

    threads: Annotated[int | None, Whole(1, 10_000)] = Field(default=None, examples=[50])
    """Tomcat's maxThreads."""

    pool: Annotated[int | None, Whole(1, 10_000)] = Field(default=None, examples=[20])
    """Tomcat's connections to the database."""

    vcpus: Annotated[int | None, Whole(0, 4096)] = Field(default=None, examples=[1])
    """Of the neighbours: how many virtual CPUs of each compute; the others rest."""

    @property
    def tier(self) -> str:
        """The server's tier; the neighbours have none."""
        return self.on.partition(".")[0]

    @property
    def soft(self) -> dict[str, int]:
        """The soft resources that it resizes, by name."""
        names = ("threads", "pool")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.pus is not None and self.place is not None:
            raise problem("says the PUs twice, beside `pus`; keep one of them", "place")
        if not self.model_fields_set - {"at_ns", "on"}:
            names = [name for name in type(self).model_fields if name not in ("at_ns", "on")]
            raise problem(f"changes nothing; give it one of {', '.join(names)}")
        given = self.model_fields_set - {"at_ns", "on"}
        others = given & {"vcpus"} if self.on != NEIGHBOURS else given - {"vcpus"}
        raise_all(problem(f"is nothing that is changed of {self.on}", n) for n in sorted(others))
        return self


def change_problems(
    changes: Sequence[Change], system: System, phases: Phases
) -> Iterator[PydanticCustomError]:
    """The problems of changes that this trial has no server or no time for."""
    for number, change in enumerate(changes, start=1):
        at = f"change[{number}]"
        if change.at_ns >= phases.runtime_ns:
            runtime = format_duration(phases.runtime_ns)
            yield problem(f"must be within the runtime of {runtime}", at, "at")
        if change.on == NEIGHBOURS:
            yield from _neighbour_problems(change, system.neighbours, at)
        else:
            yield from _subject_problems(change, system, at)
    yield from _host_problems(changes)


def _subject_problems(change: Change, system: System, at: str) -> Iterator[PydanticCustomError]:
    there = reachable(system)
    if change.on not in there:
        allowed = listed([*there, NEIGHBOURS])
        why = why_not(change.on, system)
        yield problem(f'must be {allowed} in this system, not "{change.on}"{why}', at, "on")
    else:
        resources = there[change.on].soft_resources
        for name in change.soft:
            if name not in resources or not resources[name].resizable:
                text = f"is no soft resource that {change.on} resizes while it runs"
                yield problem(text, at, name)


def _neighbour_problems(
    change: Change, neighbours: Neighbours, at: str
) -> Iterator[PydanticCustomError]:
    if not neighbours.count:
        yield problem("goes with system.neighbours, of which there are none", at, "on")
    elif change.vcpus is not None and change.vcpus > neighbours.vcpus:
        most = neighbours.vcpus
        yield problem(f"must be at most {most}, as many as each neighbour has", at, "vcpus")


def _host_problems(changes: Sequence[Change]) -> Iterator[PydanticCustomError]:
    """Who moves must be elsewhere before; `changes` are in order of time."""
    hosts: dict[str, str] = {}
    for number, change in enumerate(changes, start=1):
        if change.host is None:
            continue
        if change.host == hosts.get(change.on, HOSTS[0]):
            yield problem(
                f"must be a host that {change.on} is not on: by then it is on {change.host}",
                f"change[{number}]",
                "host",
            )
        hosts[change.on] = change.host
