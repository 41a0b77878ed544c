"""`[objective]`: what the runtime has to reach; `tierlab run` exits with 1 when it does not."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tierlab.values.kinds import Duration, Real
from tierlab.values.section import Section

Bound = Annotated[int | None, Duration("1us", "1h")]


class Objective(Section):
    """Bounds on the figures of the runtime phase; those not given do not count."""

    mean_ns: Bound = Field(default=None, alias="mean", examples=["50ms"])
    """Most that the mean response time may be."""

    p50_ns: Bound = Field(default=None, alias="p50", examples=["20ms"])
    """Most that half of the interactions may take."""

    p90_ns: Bound = Field(default=None, alias="p90", examples=["100ms"])
    """Most that 90 % of the interactions may take."""

    p95_ns: Bound = Field(default=None, alias="p95", examples=["200ms"])
    """Most that 95 % of the interactions may take."""

    p99_ns: Bound = Field(default=None, alias="p99", examples=["500ms"])
    """Most that 99 % of the interactions may take."""

    p999_ns: Bound = Field(default=None, alias="p999", examples=["1s"])
    """Most that 99.9 % of the interactions may take."""

    max_ns: Bound = Field(default=None, alias="max", examples=["3s"])
    """Most that any interaction may take."""

    throughput: Annotated[float | None, Real(0, 10_000_000)] = Field(default=None, examples=[100.0])
    """Least interactions per second."""

    errors: Annotated[float | None, Real(0, 1)] = Field(default=None, examples=[0.001])
    """Largest share of interactions that may fail."""

    rules: bool = False
    """Whether the run has to pass by the rules of its benchmark."""
