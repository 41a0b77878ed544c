"""`[system.<tier>]`: a layer of the application, its servers' placement, limits and soft resources.

A tier's model is made from what the workload says of the tier and the software of itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as TypingMapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    Discriminator,
    Field,
    Tag,
    create_model,
    field_serializer,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tierlab.experiment.place import PLACE
from tierlab.experiment.problem import FORM, problem, raise_all, shown, unknown_key
from tierlab.servers.base import Server, Settings
from tierlab.servers.soft import SoftError, SoftResource
from tierlab.values.kinds import Numbers, Size, Whole
from tierlab.values.section import Section
from tierlab.values.word import Word
from tierlab.workloads.workload import TierDeclaration

SERVER = "The server software."


class Mapping(Section):
    """Where a tier's servers run; each key that is missing leaves it to the kernel."""

    pus: Annotated[tuple[int, ...] | None, Numbers(0, 4095)] = Field(default=None, examples=[[0]])
    """PUs that the servers may run on, by Linux's CPU numbers; without it, those of `system.place`,
    or all."""

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

    software: ClassVar[type[Server]]

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
        own = cls.software.kind
        if not isinstance(table, dict) or table.get("server", own) != own:
            return table
        try:
            given = checked_soft(cls.software, table.get("soft", {}))
            soft: object = cls.software.complete(given, table)
        except PydanticCustomError as error:
            soft = error
        except SoftError as error:
            soft = problem(str(error), error.name)
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
        resources = self.software.soft_resources
        return {name: resources[name].kind.write(value) for name, value in soft.items()}

    @property
    def settings(self) -> Settings:
        """What its servers are set to."""
        options = self.software.own_options
        own = {name: getattr(self, name) for name in options.model_fields}
        return Settings(self.soft, options.model_construct(**own))


def checked_soft(software: type[Server], given: object) -> dict[str, int]:
    """What a file sets, in counts, bytes and nanoseconds."""
    resources = software.soft_resources
    if not isinstance(given, dict):
        raise problem(f"must be a table (keys: {', '.join(resources)}), not {shown(given)}")
    raise_all(_problems(given, resources))
    return {name: int(resources[name].kind.check(value)) for name, value in given.items()}


def _problems(
    given: dict[str, object], resources: TypingMapping[str, SoftResource]
) -> Iterator[PydanticCustomError]:
    for name, value in given.items():
        if name not in resources:
            yield unknown_key(name, resources)
            continue
        kind = resources[name].kind
        try:
            kind.check(value)
        except ValueError:
            yield problem(f"must be {kind.words()}, not {shown(value)}", name)


@cache
def tier_model(declared: TierDeclaration, software: type[Server]) -> type[Tier]:
    """The model of a tier whose servers are this software."""
    own = () if declared.own is None else (declared.own,)
    bases: Any = (*own, software.own_options, Tier)
    kinds = tuple(each.kind for each in declared.software)
    model: type[Tier] = create_model(
        software.kind,
        __base__=bases,
        __doc__=declared.meaning,
        server=(Annotated[str, Word(kinds)], Field(software.kind, description=SERVER)),
        count=(Annotated[int, Whole(1, declared.most)], Field(1, description=declared.instances)),
    )
    model.software = software
    return model


def tier_field(declared: TierDeclaration) -> Any:
    """The annotation and default of a tier in the system's model."""
    models = {each.kind: tier_model(declared, each) for each in declared.software}
    usual = models[declared.software[0].kind]
    if len(models) == 1:
        return usual, Field(default_factory=usual)
    forms = [Annotated[model, Tag(FORM + kind)] for kind, model in models.items()]

    def kind(table: Any) -> str:
        said = table.get("server") if isinstance(table, dict) else getattr(table, "server", None)
        return FORM + (said if said in models else declared.software[0].kind)

    return Annotated[reduce(or_, forms), Discriminator(kind)], Field(default_factory=usual)
