"""`[system]`: the workload, where it runs, and its tiers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tierlab.experiment.kinds import Numbers, Real, Size, Whole
from tierlab.experiment.neighbours import Neighbours
from tierlab.experiment.place import PLACE
from tierlab.experiment.problem import problem, raise_all
from tierlab.experiment.quantities import MIB
from tierlab.experiment.section import Section
from tierlab.experiment.soft import checked_soft, completed_soft, written_soft

NamedMapping = Literal["one-package", "two-packages", "one-l3", "own-cores", "one-apart"]


class Mapping(Section):
    """Where a tier's servers run; each key that is missing leaves it to the kernel."""

    pus: Annotated[tuple[int, ...] | None, Numbers(0, 4095)] = Field(default=None, examples=[[0]])
    """PUs that the servers may run on, by Linux's CPU numbers; without it, all."""

    place: Annotated[str | None, PLACE] = Field(default=None, examples=["package:0.core:{n}"])
    """The same by where it is on the machine, whatever Linux's numbers are; not beside `pus`."""

    vcpus: Annotated[int | None, Whole(1, 4096)] = Field(default=None, examples=[2])
    """How many of the place's PUs each server takes, from its first; without it, all of them (in a
    mapping of `system.mapping`, one). A server in a virtual machine has so many virtual CPUs, and
    needs no place for that; without either, one."""

    memory_node: Annotated[int | None, Whole(0, 1023)] = Field(default=None, examples=[0])
    """NUMA node that the servers' memory is on; without it, the kernel chooses."""

    weight: Annotated[int | None, Whole(16, 100_000)] = Field(default=None, examples=[1024])
    """Share of contended CPU time relative to other tiers; a tier without one has 1024."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.pus is not None and self.place is not None:
            raise problem("says the PUs twice, beside `pus`; keep one of them", "place")
        if self.pus is not None and self.vcpus is not None:
            raise problem("counts what `pus` lists; leave it out, or say `place`", "vcpus")
        return self


class DiskLimits(Section):
    """What each of a tier's servers may do to the disk that its files lie on."""

    writes: Annotated[int | None, Size("64KiB", "1TiB")] = Field(default=None, examples=["32MiB"])
    """Bytes a second that are written; without it, no limit."""

    reads: Annotated[int | None, Whole(10, 100_000_000)] = Field(default=None, examples=[500])
    """Read operations a second; without it, no limit."""


class Tier(Section):
    """A layer of the application: `count` instances of one server."""

    server: str
    """The server software."""

    count: int = 1
    """Instances."""

    memory: Annotated[int | None, Size("16MiB", "64TiB")] = Field(default=None, examples=["2GiB"])
    """Memory that each instance may use, or that its virtual machine has; without it, no limit, or
    what the environment gives."""

    mapping: Mapping = Field(default_factory=Mapping)
    """Where the servers run."""

    disk: DiskLimits = Field(default_factory=DiskLimits)
    """How much the servers may use the disk."""

    soft: dict[str, int] = Field(default_factory=dict)
    """Soft resources by name: all of the server's, in counts, bytes and nanoseconds."""

    @model_validator(mode="before")
    @classmethod
    def _complete_soft(cls, table: Any) -> Any:
        server = cls.model_fields["server"].default
        if not isinstance(table, dict) or table.get("server", server) != server:
            return table
        try:
            given = checked_soft(server, table.get("soft", {}))
            soft: object = completed_soft(server, given, table.get("mpm") == "prefork")
        except PydanticCustomError as error:
            soft = error
        return table | {"soft": soft}

    @field_validator("soft", mode="before")
    @classmethod
    def _right_soft(cls, soft: object) -> object:
        # Only here, so that the tier's other keys are checked beside it.
        if isinstance(soft, PydanticCustomError):
            raise soft
        return soft

    @field_serializer("soft", when_used="json")
    def _write_soft(self, soft: dict[str, int]) -> dict[str, Any]:
        return written_soft(self.server, soft)


class WebTier(Tier):
    """The web server: static pages, and a gateway to the application server."""

    server: Literal["httpd"] = "httpd"
    """The server software."""

    count: Annotated[int, Whole(1, 1)] = 1
    """Instances."""

    mpm: Literal["event", "prefork"] = "event"
    """httpd's processing model: threads in a few processes, or a process a request."""

    connector: Literal["ajp", "http"] = "ajp"
    """The protocol to the application server."""


class AppTier(Tier):
    """The application server, with the workload's servlets."""

    server: Literal["tomcat"] = "tomcat"
    """The server software."""

    count: Annotated[int, Whole(1, 1)] = 1
    """Instances."""

    heap: Annotated[int, Size("32MiB", "1TiB", step="1MiB")] = 256 * MIB
    """The JVM's heap, from the start and at most."""


class LbTier(Tier):
    """The load balancer between the application server and the databases."""

    server: Literal["haproxy"] = "haproxy"
    """The server software."""

    count: Annotated[int, Whole(1, 1)] = 1
    """Instances."""


class DbTier(Tier):
    """The database: one server, or a Galera cluster of two to four."""

    server: Literal["mariadb"] = "mariadb"
    """The server software."""

    count: Annotated[int, Whole(1, 4)] = 1
    """Instances; two to four form a Galera cluster."""


class System(Section):
    """The system under test."""

    workload: Literal["rubbos", "static"]
    """The application, its data and its users; static is one page of the web server's own, with no
    tier behind and no mix."""

    environment: Literal["native", "podman", "docker", "lxc", "qemu", "xen", "vsphere"] = "native"
    """How the servers are isolated from one another; native is bare processes, podman, docker
    and lxc are a container for each server, qemu a virtual machine for each, xen a domain of Xen's
    for each, vsphere a virtual machine of a vCenter's for each."""

    mapping: NamedMapping | None = Field(default=None, examples=["one-package"])
    """A mapping of all servers by its name; each takes `vcpus` PUs, or one. Without it, the tiers'
    own."""

    scale: Annotated[float, Real(0.0005, 10)] = 0.02
    """Size of the data set; 1.0 is the published size."""

    data_seed: Annotated[int | None, Whole(0, 2**32 - 1)] = Field(default=None, examples=[42])
    """Of the data set, the same for all repetitions; without it, the experiment's seed."""

    fidelity: Literal["corrected", "published"] = "corrected"
    """Whether the published client's known flaws are mended or kept."""

    tcp: Literal["modern", "classic"] = "modern"
    """When a connection request without an answer is repeated: as this kernel does, or after 3, 9
    and 21 s, as kernels did until 2011 (RFC 1122)."""

    neighbours: Neighbours = Field(default_factory=Neighbours)
    web: WebTier = Field(default_factory=WebTier)
    app: AppTier = Field(default_factory=AppTier)
    lb: LbTier = Field(default_factory=LbTier)
    db: DbTier = Field(default_factory=DbTier)

    @model_validator(mode="after")
    def _only_its_tiers(self) -> Self:
        raise_all(
            problem(f'is no tier of workload "{self.workload}"; remove it', name)
            for name in sorted(self._unused() & self.model_fields_set)
        )
        return self

    @model_validator(mode="after")
    def _mapped_once(self) -> Self:
        raise_all(
            problem("is said by `system.mapping` too; keep one", name, "mapping", key)
            for name, tier in self.tiers.items()
            for key in ("pus", "place")
            if self.mapping is not None and getattr(tier.mapping, key) is not None
        )
        return self

    @property
    def tiers(self) -> dict[str, Tier]:
        """The tiers by name, in a request's order."""
        if self.workload == "static":
            return {"web": self.web}
        return {"web": self.web, "app": self.app, "lb": self.lb, "db": self.db}

    def _unused(self) -> set[str]:
        """The tiers that the workload has not."""
        return {"app", "lb", "db"} - self.tiers.keys()

    @model_serializer(mode="wrap", when_used="json")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in write(self).items() if key not in self._unused()}
