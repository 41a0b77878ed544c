"""What every `[[disturb]]` table says, whatever its class."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from tierlab.experiment.problem import problem
from tierlab.servers.base import Server
from tierlab.values.duration_or_word import DurationOrWord
from tierlab.values.kinds import Duration, Whole
from tierlab.values.quantities import MILLISECOND, SECOND
from tierlab.values.section import Section
from tierlab.values.word import Word

MOMENT = DurationOrWord(Duration("0s", "24h"), Word(("random",)))
"""When in the runtime something happens."""


class Timed(Section):
    """What every table says: what is done, how often, and when."""

    class_: str = Field(alias="class")
    """What is done."""

    at_ns: Annotated[int | Literal["random"], MOMENT] = Field(default="random", alias="at")
    """Start, counted from the start of the runtime; random is drawn from the trial's seed."""

    count: Annotated[int, Whole(1, 10_000)] = 1
    """How many."""

    every_ns: Annotated[int | None, Duration("100ms", "1h")] = Field(
        default=None, alias="every", examples=["10s"]
    )
    """From one's start to the next one's; goes with an `at` that is not random."""

    gap_ns: Annotated[int, Duration("0s", "1h")] = Field(default=4 * SECOND, alias="gap")
    """Least time between it and any other, from an end to a start, where drawn at random."""

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

    from_outside: ClassVar[bool] = False
    """Whether it comes over the network to the server that users ask, as they do."""
    of_packets: ClassVar[bool] = False
    """Whether it is done to the packets that come to the server's TCP port."""
    by_hypervisor: ClassVar[bool] = False
    """Whether another domain of the hypervisor's does it, and nobody reaches into the server's."""
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

    @classmethod
    def suits(cls, software: type[Server]) -> bool:  # noqa: ARG003 - most can be done to any
        """Whether it can be done to such a server."""
        return True

    @classmethod
    def felt(cls, software: type[Server]) -> bool:
        """Whether requests feel it there: only such servers are drawn."""
        return cls.suits(software)

    @property
    def intensity(self) -> dict[str, Any]:
        """What the class alone has, by attribute name: bytes, nanoseconds, counts and words."""
        common = set(Disturbance.model_fields)
        return {name: getattr(self, name) for name in type(self).model_fields if name not in common}
