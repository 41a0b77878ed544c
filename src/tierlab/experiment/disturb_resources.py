"""Disturbances that take a resource away from a server: memory, CPU time, the disk, the network."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.subjects import APPLICATION, DATABASE, Subject
from tierlab.servers.base import Server
from tierlab.values.kinds import Duration, Real, Size, Whole
from tierlab.values.quantities import BYTES, MIB, MILLISECOND


class Memory(Disturbance):
    """Memory taken inside a server's domain, touched request by request, until it thrashes."""

    class_: Literal["memory"] = Field(alias="class")
    on: Subject = DATABASE
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
    on: Subject = DATABASE
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
    on: Subject = DATABASE
    """The server; its tier gets a disk limit if it has none."""

    write: Annotated[int, Size("4KiB", "256MiB")] = 4 * MIB
    """Size of one write."""

    writers: Annotated[int, Whole(1, 64)] = 4
    """Threads that write at the same time."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """A database has files that it needs all the time."""
        return software.is_database


class Network(Disturbance):
    """A rate limit on the way into one server."""

    of_packets = True
    class_: Literal["network"] = Field(alias="class")
    on: Subject = DATABASE
    """The server."""

    rate: Annotated[int, Size("1KiB", "1TiB")] = 8 * BYTES["KiB"]
    """Bytes that get through in a second; 300 users send some 30 KiB into each server."""


class Loss(Disturbance):
    """Packets to one server that are lost, by chance."""

    of_packets = True
    class_: Literal["loss"] = Field(alias="class")
    on: Subject = DATABASE
    """The server."""

    share: Annotated[float, Real(0.001, 1)] = 0.3
    """Of the packets to it. TCP sends one again after 200 ms, a connection request after 1 s."""


class Quota(Disturbance):
    """A limit on a server's CPU time, as a container's or a small instance's."""

    class_: Literal["quota"] = Field(alias="class")
    on: Subject = APPLICATION
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
    on: Subject = APPLICATION
    """The server."""

    weight: Annotated[int, Whole(2, 1024)] = 16
    """What it weighs meanwhile, where 1024 is the usual."""

    threads: Annotated[int, Whole(1, 64)] = 4
    """Threads of the other job: alone on its cores a server of any weight has them all."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not by a balancer, which next to no CPU time is enough for."""
        return not software.passes_through


class Steal(Disturbance):
    """CPU time that a hypervisor gives to another domain, which computes on the server's PUs."""

    by_hypervisor = True
    class_: Literal["steal"] = Field(alias="class")
    on: Subject = APPLICATION
    """The server, with a hypervisor whose domains are told of it: in environment `xen`."""

    weight: Annotated[int, Whole(16, 262_140)] = 16_384
    """What the other domain weighs, where a server usually weighs 1024. On each PU of the server's
    it computes all the time, and gets the share of that in both weights."""

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Not by a balancer, which next to no CPU time is enough for."""
        return not software.passes_through
