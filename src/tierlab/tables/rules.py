"""The rules by which a run of a benchmark passes: a workload declares, a manifest keeps them.

They are those of the Faban driver framework (Sun Microsystems, 2005-2009).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Rule(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OperationRule(_Rule):
    """One operation: its share of the mix (0..1), and how long it may take at the percentile."""

    share: float = Field(ge=0, le=1)
    limit_ns: int = Field(ge=1000)


class Check(_Rule):
    """A bound on what an operation did, on average over those that succeeded.

    ``of`` is a column of ``requests``; or ``step``, the share of them in which the page of the
    state ``step`` was asked for.
    """

    name: str
    operation: str
    of: Literal["images_named", "images", "image_bytes", "step"]
    step: str | None = None
    least: float | None = None
    most: float | None = None


class RunRules(_Rule):
    """All that has to hold.

    The shares of the mix may be off by ``mix_deviation`` (0.02: two points). The mean delay after
    each operation (from its ``start``: a cycle time; from its ``end``: a think time) may differ by
    ``delay_deviation`` from the mean of those that were drawn. Users over successful operations per
    second may be ``most_users_per_rate``.
    """

    operations: dict[str, OperationRule]
    percentile: float = Field(default=0.9, gt=0, lt=1)
    mix_deviation: float = 0.02
    delay_from: Literal["start", "end"] = "start"
    delay_deviation: float = 0.02
    most_users_per_rate: float | None = None
    checks: tuple[Check, ...] = ()
