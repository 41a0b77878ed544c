"""The classes of disturbance, each with the keys that make up its intensity."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.subjects import (
    APPLICATION,
    COLLECTING,
    DATABASES,
    ENTRIES,
    LOCKABLE,
    POOLED,
    RESOURCES,
    RESTARTABLE,
    Anyone,
    Database,
)
from tierlab.servers.base import Server
from tierlab.values.kinds import Duration, Real, Size, Whole
from tierlab.values.quantities import BYTES, MIB, MILLISECOND
from tierlab.values.word import Word


class Memory(Disturbance):
    """Memory taken inside a server's domain, touched request by request, until it thrashes."""

    class_: Literal["memory"] = Field(alias="class")
    on: Anyone = DATABASES[0]
    """The server; its tier gets a memory limit if it has none."""

    take: Annotated[int, Size("1MiB", "1TiB")] = 200 * MIB
    """Memory that is taken in all."""

    request: Annotated[int, Size("4KiB", "1GiB")] = MIB
    """Size of one request, touched once it is made."""

    leave: Annotated[int, Size("0B", "1TiB")] = 2 * MIB
    """What is left of the domain to the pages of the server's files."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """A database has files that it needs all the time."""
        return software.is_database


class Cpu(Disturbance):
    """A neighbour that computes on a server's cores."""

    class_: Literal["cpu"] = Field(alias="class")
    on: Anyone = DATABASES[0]
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

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not by the few pages whose bytes a balancer is just handing on."""
        return not software.passes_through


class Disk(Disturbance):
    """Writes that each wait for the device, against a server's share of it."""

    class_: Literal["disk"] = Field(alias="class")
    on: Anyone = DATABASES[0]
    """The server; its tier gets a disk limit if it has none."""

    write: Annotated[int, Size("4KiB", "256MiB")] = 4 * MIB
    """Size of one write."""

    writers: Annotated[int, Whole(1, 64)] = 4
    """Threads that write at the same time."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """A database has files that it needs all the time."""
        return software.is_database


class Freeze(Disturbance):
    """A server stopped and continued."""

    class_: Literal["freeze"] = Field(alias="class")
    on: Anyone = DATABASES[0]
    """The server."""


class Collection(Disturbance):
    """Full garbage collections in the JVM, back to back."""

    class_: Literal["gc"] = Field(alias="class")
    on: Annotated[str, Word(COLLECTING)] = COLLECTING[0]
    """The server."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one that collects garbage."""
        return software.collects


class Lock(Disturbance):
    """A transaction that holds the rows, or the table, which pages need."""

    class_: Literal["lock"] = Field(alias="class")
    on: Database = DATABASES[0]
    """The database."""

    table: Annotated[str | None, Word(LOCKABLE)] = Field(default=None, examples=[LOCKABLE[0]])
    """The table; without it, the one that matters most to the workload."""

    rows: Annotated[int, Whole(0, 1_000_000)] = 0
    """Rows that are locked for update; 0 locks the whole table."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To a database in which the agent can."""
        return software.locks_rows


class Pool(Disturbance):
    """A soft resource that is held by somebody else."""

    class_: Literal["pool"] = Field(alias="class")
    on: Annotated[str, Word(POOLED)] = APPLICATION
    """The server."""

    resource: Annotated[str | None, Word(RESOURCES)] = Field(default=None, examples=["pool"])
    """Such as pool (of connections to the database), threads or max_connections; without it, the
    one that matters most to the server."""

    hold: Annotated[int | None, Whole(1, 100_000)] = Field(default=None, examples=[50])
    """How many are held; without it, all."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one with a resource that others can take."""
        return bool(software.holdable)

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not in a database, whose connections the application's pool has all the time."""
        return bool(software.holdable) and not software.is_database

    def held(self, software: type[Server]) -> str:
        """The soft resource that is meant, of such a server."""
        return self.resource or software.holdable[0]


class Burst(Disturbance):
    """A surge of users, beside those of `[load]`, who do not think."""

    class_: Literal["burst"] = Field(alias="class")
    on: Annotated[str, Word(ENTRIES)] = ENTRIES[0]
    """The server."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one that is asked for pages."""
        return "http" in software.ports

    users: Annotated[int, Whole(1, 100_000)] = 200
    """Users who come."""


class Network(Disturbance):
    """A rate limit on the way into one server."""

    class_: Literal["network"] = Field(alias="class")
    on: Anyone = DATABASES[0]
    """The server."""

    rate: Annotated[int, Size("1KiB", "1TiB")] = 8 * BYTES["KiB"]
    """Bytes that get through in a second; 300 users send some 30 KiB into each server."""


class Loss(Disturbance):
    """Packets to one server that are lost, by chance."""

    class_: Literal["loss"] = Field(alias="class")
    on: Anyone = DATABASES[0]
    """The server."""

    share: Annotated[float, Real(0.001, 1)] = 0.3
    """Of the packets to it. TCP sends one again after 200 ms, a connection request after 1 s."""


class Quota(Disturbance):
    """A limit on a server's CPU time, as a container's or a small instance's."""

    class_: Literal["quota"] = Field(alias="class")
    on: Anyone = APPLICATION
    """The server."""

    cores: Annotated[float, Real(0.001, 64)] = 0.1
    """CPU time that is left to it, in cores."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not by a balancer, which next to no CPU time is enough for."""
        return not software.passes_through


class Weight(Disturbance):
    """A server that weighs next to nothing on its cores, beside another job of the usual weight."""

    class_: Literal["weight"] = Field(alias="class")
    on: Anyone = APPLICATION
    """The server."""

    weight: Annotated[int, Whole(2, 1024)] = 16
    """What it weighs meanwhile, where 1024 is the usual."""

    threads: Annotated[int, Whole(1, 64)] = 4
    """Threads of the other job: alone on its cores a server of any weight has them all."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not by a balancer, which next to no CPU time is enough for."""
        return not software.passes_through


class Restart(Disturbance):
    """A server whose workers end and are started anew, again and again until the end."""

    class_: Literal["restart"] = Field(alias="class")
    on: Annotated[str, Word(RESTARTABLE)] = RESTARTABLE[0]
    """The server."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one whose main process starts others in their place when it is told to."""
        return software.restart_signal is not None


class Checkpoint(Disturbance):
    """A database that writes changed pages to its disk at once, again and again until the end."""

    class_: Literal["checkpoint"] = Field(alias="class")
    on: Database = DATABASES[0]
    """The database; its tier gets a disk limit if it has none."""

    dirty: Annotated[int, Size("1MiB", "1GiB")] = 16 * MIB
    """Pages that are changed before, of a table made for it; the buffer pool has room for them."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To a database that writes its pages when the agent asks for it."""
        return software.checkpoints


class ColdCache(Disturbance):
    """A database whose buffer pool is emptied, again and again until the end."""

    class_: Literal["cold_cache"] = Field(alias="class")
    on: Database = DATABASES[0]
    """The database; its tier gets a limit on reads if it has none."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To a database whose pages the agent can drive out."""
        return software.empties_cache


class SlowClients(Disturbance):
    """Clients who send their requests line by line, so that each holds a worker meanwhile."""

    class_: Literal["slow_clients"] = Field(alias="class")
    on: Annotated[str, Word(ENTRIES)] = ENTRIES[0]
    """The server."""

    clients: Annotated[int, Whole(1, 20_000)] = 400
    """How many there are; users wait where they are more than its workers."""

    @classmethod
    def suits(cls, software: type[Server]) -> bool:
        """To one that is asked for pages."""
        return "http" in software.ports

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Where a connection needs a worker of its own: others read what comes from all at once."""
        return cls.suits(software) and "threads" in software.holdable


KINDS: Mapping[str, type[Disturbance]] = {
    typing.get_args(model.model_fields["class_"].annotation)[0]: model
    for model in (
        Memory,
        Cpu,
        Disk,
        Freeze,
        Collection,
        Lock,
        Pool,
        Burst,
        Network,
        Loss,
        Quota,
        Weight,
        Restart,
        Checkpoint,
        ColdCache,
        SlowClients,
    )
}
"""The model of each class."""

CLASSES = tuple(KINDS)
