"""`[[disturb]]`: faults that Tierlab injects, so that the truth is known.

Each table has a `class`, and with it keys of its own. A file leaves open what it likes: `at` may
be drawn, and class `"random"` draws all of it. `tierlab.experiment.draw` makes of these tables
the disturbances of a trial, with nothing left open.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from tierlab.experiment.kinds import Duration, Selection, Size, Whole
from tierlab.experiment.moment import Moment
from tierlab.experiment.problem import problem, raise_all
from tierlab.experiment.quantities import BYTES, MIB, MILLISECOND, SECOND
from tierlab.experiment.section import Section

Class = Literal[
    "memory", "cpu", "disk", "freeze", "gc", "lock", "pool", "burst", "network", "random"
]
Anyone = Literal["web.1", "app.1", "lb.1", "db.1", "db.2", "db.3", "db.4"]
Database = Literal["db.1", "db.2", "db.3", "db.4"]
Pooled = Literal["web.1", "app.1", "db.1", "db.2", "db.3", "db.4"]

ANYONE = ("web.1", "app.1", "lb.1", "db.1", "db.2", "db.3", "db.4")
RESOURCES = {"web": ("threads",), "app": ("pool", "threads"), "db": ("max_connections",)}
"""What class `pool` can hold in a server of each tier, the default first."""


class Timed(Section):
    """What every table says: what is done, how often, and when."""

    class_: Class = Field(alias="class", examples=["random"])
    """What is done."""

    at_ns: Annotated[int | Literal["random"], Moment("0s", "24h")] = Field(
        default="random", alias="at"
    )
    """Start, counted from the start of the runtime; random is drawn from the trial's seed."""

    count: Annotated[int, Whole(1, 10_000)] = 1
    """How many."""

    every_ns: Annotated[int | None, Duration("100ms", "1h")] = Field(
        default=None, alias="every", examples=["10s"]
    )
    """From one's start to the next one's; goes with an `at` that is not random."""

    gap_ns: Annotated[int, Duration("0s", "1h")] = Field(default=4 * SECOND, alias="gap")
    """Least time between the end of one and the start of another, where drawn at random."""

    @model_validator(mode="after")
    def _spaced(self) -> Self:
        drawn = self.at_ns == "random"
        if drawn and self.every_ns is not None:
            raise problem('goes with a stated at ("20s"); with at = "random" there is gap', "every")
        if not drawn and "gap_ns" in self.model_fields_set:
            raise problem('goes with at = "random"; with a stated at there is every', "gap")
        if not drawn and self.count > 1 and self.every_ns is None:
            raise problem(f'is missing: it spaces the {self.count} disturbances ("10s")', "every")
        return self


class Disturbance(Timed):
    """A disturbance of a stated class; its subclasses add what makes up its intensity."""

    on: str
    duration_ns: Annotated[int, Duration("20ms", "10s")] = Field(
        default=300 * MILLISECOND, alias="duration"
    )
    """How long it lasts."""

    def written(self, at_ns: int) -> dict[str, Any]:
        """The table as a file has it when it happens once, at `at_ns` of the runtime."""
        once = self.model_copy(update={"at_ns": at_ns, "count": 1, "every_ns": None})
        return once.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude={"count", "gap_ns"}
        )

    @property
    def intensity(self) -> dict[str, Any]:
        """What the class alone has, by attribute name: bytes, nanoseconds, counts and words."""
        common = set(Disturbance.model_fields)
        return {name: getattr(self, name) for name in type(self).model_fields if name not in common}


class Memory(Disturbance):
    """Memory taken inside a server's domain, touched request by request, until it thrashes."""

    class_: Literal["memory"] = Field(alias="class")
    on: Anyone = "db.1"
    """The server; its tier gets a memory limit if it has none."""

    take: Annotated[int, Size("1MiB", "1TiB")] = 200 * MIB
    """Memory that is taken in all."""

    request: Annotated[int, Size("4KiB", "1GiB")] = MIB
    """Size of one request, touched once it is made."""

    leave: Annotated[int, Size("0B", "1TiB")] = 2 * MIB
    """What is left of the domain to the pages of the server's files."""


class Cpu(Disturbance):
    """A neighbour that computes on a server's cores."""

    class_: Literal["cpu"] = Field(alias="class")
    on: Anyone = "db.1"
    """The server."""

    threads: Annotated[int, Whole(1, 64)] = 2
    """Threads that compute."""

    pattern: Literal["steady", "alternating"] = "steady"
    """All the time, or half of the threads at a time, in turns."""

    period_ns: Annotated[int, Duration("1ms", "10s")] = Field(
        default=100 * MILLISECOND, alias="period"
    )
    """Length of both turns together, where they alternate."""

    where: Literal["domain", "cores"] = "domain"
    """Inside the server's own domain, like a job in the same machine, or beside it on its cores."""


class Disk(Disturbance):
    """Writes that each wait for the device, against a server's share of it."""

    class_: Literal["disk"] = Field(alias="class")
    on: Anyone = "db.1"
    """The server; its tier gets a disk limit if it has none."""

    write: Annotated[int, Size("4KiB", "256MiB")] = 4 * MIB
    """Size of one write."""

    writers: Annotated[int, Whole(1, 64)] = 4
    """Threads that write at the same time."""


class Freeze(Disturbance):
    """A server stopped and continued."""

    class_: Literal["freeze"] = Field(alias="class")
    on: Anyone = "db.1"
    """The server."""


class Collection(Disturbance):
    """Full garbage collections in the JVM, back to back."""

    class_: Literal["gc"] = Field(alias="class")
    on: Literal["app.1"] = "app.1"
    """The server."""


class Lock(Disturbance):
    """A transaction that holds the rows, or the table, which pages need."""

    class_: Literal["lock"] = Field(alias="class")
    on: Database = "db.1"
    """The database."""

    table: Literal["stories", "comments", "users"] = "stories"
    """The table."""

    rows: Annotated[int, Whole(0, 1_000_000)] = 0
    """Rows that are locked for update; 0 locks the whole table."""


class Pool(Disturbance):
    """A soft resource that is held by somebody else."""

    class_: Literal["pool"] = Field(alias="class")
    on: Pooled = "app.1"
    """The server."""

    resource: Literal["threads", "pool", "max_connections"] | None = Field(
        default=None, examples=["pool"]
    )
    """web.1: threads; app.1: pool (of database connections) or threads; db.N: max_connections;
    without it, the server's first."""

    hold: Annotated[int | None, Whole(1, 100_000)] = Field(default=None, examples=[50])
    """How many are held; without it, all."""

    @model_validator(mode="after")
    def _belongs(self) -> Self:
        allowed = RESOURCES[self.on.partition(".")[0]]
        if self.resource is not None and self.resource not in allowed:
            words = " or ".join(f'"{word}"' for word in allowed)
            raise problem(f'of {self.on} must be {words}, not "{self.resource}"', "resource")
        return self

    @property
    def held(self) -> str:
        """The soft resource that is meant."""
        return self.resource or RESOURCES[self.on.partition(".")[0]][0]


class Burst(Disturbance):
    """A surge of users, beside those of `[load]`, who do not think."""

    class_: Literal["burst"] = Field(alias="class")
    on: Literal["web.1"] = "web.1"
    """The server."""

    users: Annotated[int, Whole(1, 100_000)] = 200
    """Users who come."""


class Network(Disturbance):
    """A rate limit on the way into one server."""

    class_: Literal["network"] = Field(alias="class")
    on: Anyone = "db.1"
    """The server."""

    rate: Annotated[int, Size("1KiB", "1TiB")] = 8 * BYTES["KiB"]
    """Bytes that get through in a second; 300 users send some 30 KiB into each server."""


KINDS: Mapping[str, type[Disturbance]] = {
    typing.get_args(model.model_fields["class_"].annotation)[0]: model
    for model in (Memory, Cpu, Disk, Freeze, Collection, Lock, Pool, Burst, Network)
}
"""The model of each class."""

CLASSES = tuple(KINDS)


_DATABASES: tuple[str, ...] = typing.get_args(Database)
_FELT: Mapping[str, tuple[str, ...]] = {
    "memory": _DATABASES,
    "cpu": ("web.1", "app.1", *_DATABASES),
    "disk": _DATABASES,
    "pool": ("web.1", "app.1"),
}
"""Where requests feel a class: not a balancer's few pages, nor a database's connections, which the
application's pool has all the time."""


def on(kind: str) -> tuple[str, ...]:
    """The servers that a class is drawn on: those it can disturb and where requests feel it."""
    possible: tuple[str, ...] = typing.get_args(KINDS[kind].model_fields["on"].annotation)
    return _FELT.get(kind, possible)


class Random(Timed):
    """Class, server, start, duration and intensity drawn from the trial's seed."""

    class_: Literal["random"] = Field(alias="class")
    classes: Annotated[tuple[str, ...], Selection(CLASSES)] = CLASSES
    """What is drawn from."""

    subjects: Annotated[tuple[str, ...], Selection(ANYONE)] = ANYONE
    """Servers that are drawn from, where the system has them and the class is felt."""

    shortest_ns: Annotated[int, Duration("20ms", "10s")] = Field(
        default=50 * MILLISECOND, alias="shortest"
    )
    """Least duration; between it and the longest, its logarithm is drawn evenly."""

    longest_ns: Annotated[int, Duration("20ms", "10s")] = Field(default=2 * SECOND, alias="longest")
    """Greatest duration."""

    @model_validator(mode="after")
    def _drawable(self) -> Self:
        if self.shortest_ns > self.longest_ns:
            raise problem("must not be over longest", "shortest")
        raise_all(
            problem('leaves nothing to draw from; "all" is the default', name)
            for name in ("classes", "subjects")
            if not getattr(self, name)
        )
        return self

    def reaches(self, there: Sequence[str]) -> dict[str, list[str]]:
        """By class, the servers among `there` that may be drawn; only classes that have one."""
        reached = {
            kind: [name for name in there if name in self.subjects and name in on(kind)]
            for kind in self.classes
        }
        return {kind: names for kind, names in reached.items() if names}


Written = Annotated[
    Memory | Cpu | Disk | Freeze | Collection | Lock | Pool | Burst | Network | Random,
    Field(discriminator="class_"),
]
"""A table of the file."""
