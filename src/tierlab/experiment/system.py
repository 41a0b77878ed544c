"""`[system]`: the workload, where it runs, and its tiers.

Each workload has a model of its own, with the tiers that it declares.
"""

from __future__ import annotations

from collections.abc import Mapping as TypingMapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, Union

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    Tag,
    TypeAdapter,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_serializer,
    model_validator,
)

from tierlab.experiment.at_sockets import at_sockets, socket_problems
from tierlab.experiment.calling import call_problems, protocols
from tierlab.experiment.neighbours import Neighbours
from tierlab.experiment.place import PLACE
from tierlab.experiment.problem import FORM, problem, raise_all
from tierlab.experiment.tier import Tier, tier_field
from tierlab.servers.content import Fidelity
from tierlab.values.kinds import Real, Whole
from tierlab.values.section import Section
from tierlab.values.word import Word
from tierlab.workloads.kinds import WORKLOADS
from tierlab.workloads.workload import Workload

NamedMapping = Literal["one-package", "two-packages", "one-l3", "own-cores", "one-apart"]


class System(Section):
    """The system under test."""

    application: ClassVar[Workload]

    workload: Annotated[str, Word(tuple(WORKLOADS))]
    """The application, its data and its users; static is one page of the web server's own, with no
    tier behind and no mix; kernels is parallel programs, each job a request;
    tpch is a database that users send queries to."""

    environment: Literal["native", "host", "podman", "docker", "lxc", "qemu", "xen", "vsphere"] = (
        "native"
    )
    """How the servers are isolated from one another; native is bare processes, host the same on
    this host's own network, beside servers that run already; podman, docker
    and lxc are a container for each server, qemu a virtual machine for each, xen a domain of Xen's
    for each, vsphere a virtual machine of a vCenter's for each."""

    mapping: NamedMapping | None = Field(default=None, examples=["one-package"])
    """A mapping of all servers by its name; each takes `vcpus` PUs, or one. Without it, the tiers'
    own."""

    place: Annotated[str | None, PLACE] = Field(default=None, examples=["pu:0-1"])
    """PUs that all servers may run on by where they are, but those whose tier's `mapping` says
    other ones; without it, all."""

    scale: Annotated[float, Real(0.0005, 10)] = 0.02
    """Size of the data set; 1.0 is the published size."""

    data_seed: Annotated[int | None, Whole(0, 2**32 - 1)] = Field(default=None, examples=[42])
    """Of the data set, the same for all repetitions; without it, the experiment's seed."""

    fidelity: Fidelity = "corrected"
    """Whether the published client's known flaws are mended or kept."""

    tcp: Literal["modern", "classic"] = "modern"
    """When a connection request without an answer is repeated: as this kernel does, or after 3, 9
    and 21 s, as kernels did until 2011 (RFC 1122)."""

    neighbours: Neighbours = Field(default_factory=Neighbours)

    @model_validator(mode="after")
    def _mapped_once(self) -> Self:
        raise_all(
            problem("is said by `system.mapping` too; keep one", name, "mapping", key)
            for name, tier in self.tiers.items()
            for key in ("pus", "place")
            if self.mapping is not None and getattr(tier.mapping, key) is not None
        )
        if self.mapping is not None and self.place is not None:
            raise problem("is said by `system.mapping` too; keep one", "place")
        return self

    @staticmethod
    def of(table: TypingMapping[str, Any]) -> System:
        """The system of a file's table; raises pydantic's ValidationError."""
        return _READER.validate_python(table)

    @model_validator(mode="after")
    def _only_those_there(self) -> Self:
        raise_all(
            problem(f"is no tier of this system: {reason}; remove it", name)
            for name, reason in self.absent.items()
            if name in self.model_fields_set
        )
        return self

    @property
    def tiers(self) -> dict[str, Tier]:
        """The tiers by name, in a request's order."""
        absent = self.absent
        return {name: tier for name, tier in self._all_tiers.items() if name not in absent}

    @model_validator(mode="after")
    def _callable(self) -> Self:
        _ = self.protocols
        raise_all([*call_problems(self), *socket_problems(self)])
        return self

    @property
    def protocols(self) -> dict[str, tuple[str, int]]:
        """What each tier speaks, and the port that it listens on."""
        return protocols(self)

    @property
    def at_sockets(self) -> frozenset[str]:
        """The tiers whose servers others may call at UNIX sockets."""
        return at_sockets(self)

    @property
    def absent(self) -> dict[str, str]:
        """The workload's tiers that this system has not, each with the reason."""
        tiers = self._all_tiers
        return self.application.absent(
            {name: tier.server for name, tier in tiers.items()},
            {name: tier.count for name, tier in tiers.items()},
        )

    @property
    def _all_tiers(self) -> dict[str, Tier]:
        return {name: getattr(self, name) for name in self.application.tiers}

    def callees(self, tier: str) -> tuple[str, ...]:
        """The tiers that a tier calls."""
        return self.application.callees(tier, self.absent)

    @model_serializer(mode="wrap", when_used="json")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        absent = self.absent
        return {key: value for key, value in write(self).items() if key not in absent}


def _no_tier(workload: str) -> Any:
    """The annotation and default of a tier that only other workloads have."""

    def refuse(_: object) -> None:
        raise problem(f'is no tier of workload "{workload}"; remove it')

    return Annotated[None, BeforeValidator(refuse)], Field(default=None, exclude=True)


def _model(workload: Workload) -> type[System]:
    others = {name for each in WORKLOADS.values() for name in (*each.tiers, *each.tables)}
    others -= {*workload.tiers, *workload.tables}
    tiers = {name: tier_field(declared) for name, declared in workload.tiers.items()}
    none = {name: _no_tier(workload.name) for name in sorted(others)}
    tables: Any = {name: (table, ...) for name, table in workload.tables.items()}
    bases: Any = (System,) if workload.keys is None else (workload.keys, System)
    model: type[System] = create_model("System", __base__=bases, **tiers, **none, **tables)
    model.application = workload
    return model


SYSTEMS: TypingMapping[str, type[System]] = {
    name: _model(workload) for name, workload in WORKLOADS.items()
}
"""The model of `[system]` by workload."""


def _described(table: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> System:
    """A system whose tiers its own tables describe is read by a model of its own."""
    if not isinstance(table, dict):
        found: System = read(table)
        return found
    model = model_of(table)
    return model.model_validate(table, context=info.context)


def model_of(table: TypingMapping[str, Any]) -> type[System]:
    """The model of a file's table: its workload's, with the tiers that the table describes."""
    usual = SYSTEMS[_workload(table).removeprefix(FORM)]
    application = usual.application.described(_tables(table))
    return usual if application is usual.application else _model(application)


def _tables(table: TypingMapping[str, Any]) -> dict[str, Any]:
    """The tables that are the workload's and not the system's."""
    return {
        name: each
        for name, each in table.items()
        if isinstance(each, dict) and name not in System.model_fields
    }


def _written(system: System) -> dict[str, Any]:
    """By the model that it was read by."""
    return system.model_dump(mode="json", by_alias=True, exclude_none=True)


def _workload(table: Any) -> str:
    """Whose model a table is checked by; where it names none that there is, the first's."""
    said = table.get("workload") if isinstance(table, dict) else getattr(table, "workload", None)
    return FORM + (said if isinstance(said, str) and said in SYSTEMS else next(iter(SYSTEMS)))


if TYPE_CHECKING:
    AnySystem = System
else:
    AnySystem = Annotated[
        Union[  # noqa: UP007
            tuple(
                Annotated[
                    model,
                    WrapValidator(_described),
                    PlainSerializer(_written, when_used="json"),
                    Tag(FORM + name),
                ]
                for name, model in SYSTEMS.items()
            )
        ],
        Discriminator(_workload),
    ]

_READER = TypeAdapter[System](AnySystem)
