"""`[load]`: who sends requests, which ones, and for how long."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from tierlab.experiment.problem import problem, raise_all
from tierlab.experiment.shape import Shape
from tierlab.values.duration_or_word import DurationOrWord
from tierlab.values.kinds import Duration, Real, Whole
from tierlab.values.quantities import SECOND, format_duration
from tierlab.values.section import Section
from tierlab.values.word import Word
from tierlab.workloads.kinds import WORKLOADS
from tierlab.workloads.workload import Workload

MIXES = tuple(dict.fromkeys(mix for each in WORKLOADS.values() for mix in each.mixes))

OPEN_ONLY = frozenset({"arrivals"})
CLOSED_ONLY = frozenset({"think", "cycle", "start"})
"""The keys that mean something in one loop only."""
NOT_REPLAYED = OPEN_ONLY | CLOSED_ONLY | {"users", "rate", "shape"}
"""Those that mean nothing where a log says what is sent when."""

START = DurationOrWord(Duration("1ms", "1h"), Word(("staggered", "at once")))

USUAL_THINK_NS = 7 * SECOND
"""As in TPC-W."""


@dataclass(frozen=True)
class Pace:
    """How long users wait on average: from a start to the next (cycles), or from an end."""

    mean_ns: int
    cycles: bool

    @property
    def think_ns(self) -> int | None:
        """The mean think time, if they think."""
        return None if self.cycles else self.mean_ns

    @property
    def cycle_ns(self) -> int | None:
        """The mean cycle time, if they keep one."""
        return self.mean_ns if self.cycles else None


class Phases(Section):
    """The parts of a trial; figures are taken from the runtime."""

    ramp_up_ns: Annotated[int, Duration("0s", "1h")] = Field(default=20 * SECOND, alias="ramp_up")
    """Load grows; not counted."""

    runtime_ns: Annotated[int, Duration("1s", "24h")] = Field(default=60 * SECOND, alias="runtime")
    """Load is steady; counted."""

    ramp_down_ns: Annotated[int, Duration("0s", "1h")] = Field(
        default=5 * SECOND, alias="ramp_down"
    )
    """Load goes on so that the last counted requests end under it; not counted."""

    @property
    def total_ns(self) -> int:
        """All of them together."""
        return self.ramp_up_ns + self.runtime_ns + self.ramp_down_ns


class Timeouts(Section):
    """How long a user waits before an interaction counts as failed."""

    connect_ns: Annotated[int, Duration("1ms", "10m")] = Field(default=60 * SECOND, alias="connect")
    """For the connection, SYN retransmissions included."""

    request_ns: Annotated[int, Duration("1ms", "10m")] = Field(default=60 * SECOND, alias="request")
    """For a page or an image, from the start of its connection to its last byte."""


class Load(Section):
    """A closed loop of `users`, an open loop at `rate`, or a log again, at a `speed`."""

    users: Annotated[int | None, Whole(1, 1_000_000)] = Field(default=None, examples=[500])
    """Closed loop: users who each wait for the reply and then think. Give this or `rate`."""

    rate: Annotated[float | None, Real(0.01, 1_000_000)] = Field(default=None, examples=[500.0])
    """Open loop: interactions per second, whatever the system does. Give this or `users`."""

    speed: Annotated[float | None, Real(0.001, 1000)] = Field(default=None, examples=[1.0])
    """The access log of `system.sessions` in time, so many times as fast: each request is sent when
    the log has it, the first as the ramp-up begins, whatever the system does. Give this instead of
    `users` or `rate`."""

    arrivals: Literal["poisson", "constant"] = "poisson"
    """Open loop: gaps between interactions, exponential or all the same."""

    mix: Annotated[str | None, Word(MIXES)] = Field(default=None, examples=["browse-only"])
    """The workload's mix of interactions; without it, its usual one. RUBBoS' is read-write, which
    is 90 % user and 10 % author sessions. Workloads static and own have no mix, and take none."""

    think_ns: Annotated[int | None, Duration("0s", "1h")] = Field(
        default=None, alias="think", examples=["7s"]
    )
    """Closed loop: mean think time; exponential, cut at ten times the mean as in TPC-W. Without it
    and without `cycle`, what is usual with the workload: 7 s, or its cycle time."""

    cycle_ns: Annotated[int | None, Duration("1ms", "1h")] = Field(
        default=None, alias="cycle", examples=["5s"]
    )
    """Closed loop: in place of a think time, the mean time from the start of an interaction to the
    start of the next; exponential, cut at five times the mean as Faban's. Who waits longer for a
    reply goes on at once."""

    start: Annotated[int | Literal["staggered", "at once"] | None, START] = Field(
        default=None, examples=["20s"]
    )
    """Closed loop: users begin evenly over so long from the ramp-up's beginning on, so that their
    first pages are over and the mix has settled when it ends; or over all of it (staggered), or all
    together. Without it, as `system.fidelity` has it: staggered where it is corrected, at once
    where it is published. Olio's begin 100 ms after one another."""

    connection: Literal["per-request", "keep-alive"] = "per-request"
    """A new connection for each request, or one kept per user."""

    images: bool = True
    """Whether a page's images are fetched as a browser without a cache would."""

    timeouts: Timeouts = Field(default_factory=Timeouts)
    phases: Phases = Field(default_factory=Phases)
    shape: Shape = Field(default_factory=Shape)

    def pace(self, workload: Workload) -> Pace:
        """What users of the workload wait for in a closed loop."""
        if self.cycle_ns is not None:
            return Pace(self.cycle_ns, cycles=True)
        if self.think_ns is not None:
            return Pace(self.think_ns, cycles=False)
        if workload.cycle_ns is not None:
            return Pace(workload.cycle_ns, cycles=True)
        return Pace(USUAL_THINK_NS, cycles=False)

    @model_validator(mode="after")
    def _one_loop(self) -> Self:
        if self.users is None and self.rate is None and self.speed is None:
            raise problem("needs either users (closed loop) or rate (open loop)")
        fields = type(self).model_fields
        raise_all(two_loops({fields[name].alias or name for name in self.model_fields_set}))
        if (wrong := self.shape.length_problem(self.phases.runtime_ns)) is not None:
            raise wrong
        if isinstance(self.start, int) and self.start > self.phases.ramp_up_ns:
            asked, there = (format_duration(ns) for ns in (self.start, self.phases.ramp_up_ns))
            raise problem(f"must be within the ramp-up of {there}, not {asked}", "start")
        return self

    def _other_loop(self) -> frozenset[str]:
        """The keys that mean nothing in this loop."""
        if self.speed is not None:
            return OPEN_ONLY | CLOSED_ONLY
        return OPEN_ONLY if self.rate is None else CLOSED_ONLY

    @model_serializer(mode="wrap", when_used="json")
    def _write(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        unused = set(self._other_loop())
        if self.shape.is_constant:
            unused.add("shape")
        return {key: value for key, value in write(self).items() if key not in unused}


def two_loops(keys: Collection[str]) -> Iterator[PydanticCustomError]:
    """The problems of a table `[load]` with these keys that mixes the loops."""
    if "speed" in keys:
        for key in sorted(NOT_REPLAYED.intersection(keys)):
            yield problem("goes without speed, which is a log's own load; keep one of them", key)
    elif "users" in keys and "rate" in keys:
        yield problem("has both users (closed loop) and rate (open loop); keep one of them")
    elif "users" in keys or "rate" in keys:
        if {"think", "cycle"}.issubset(keys):
            yield problem("goes without think; keep one of them", "cycle")
        needed, given = ("rate", "users") if "users" in keys else ("users", "rate")
        for key in sorted((OPEN_ONLY if given == "users" else CLOSED_ONLY).intersection(keys)):
            yield problem(f"goes with {needed}, not with {given}; remove one of them", key)


def mix_problems(load: Load, workload: Workload) -> Iterator[PydanticCustomError]:
    """The problem of a mix that is another workload's, or of any where there is none."""
    if load.mix is None or load.mix in workload.mixes:
        return
    if workload.mixes:
        words = Word(workload.mixes).words()
        wrong = f'must be {words} with workload "{workload.name}"'
    else:
        wrong = f'goes with a workload that has mixes, and "{workload.name}" has none; remove it'
    yield problem(wrong, "load", "mix")


def users_problems(load: Load, workload: Workload, scale: float) -> Iterator[PydanticCustomError]:
    """The problem of more users than the workload's data is for."""
    most = workload.most_users(scale)
    if most is not None and load.users is not None and load.users > most:
        yield problem(
            f"must be at most {most:,}, for whom data of system.scale {scale:g} is, not"
            f" {load.users:,}; raise the scale",
            "load",
            "users",
        )


def think_problems(load: Load, workload: Workload) -> Iterator[PydanticCustomError]:
    """The problems of think times beside a recording, which has its own after every step. A log's
    users think as the load says where a visit ends.
    """
    if workload.own_think and not workload.has_log:
        given = {"think": load.think_ns, "cycle": load.cycle_ns}
        for key in (name for name, time in given.items() if time is not None):
            yield problem(
                'goes with system.sessions.think = "load", not with recorded think times; keep one'
                " of them",
                "load",
                key,
            )


def speed_problems(load: Load, workload: Workload) -> Iterator[PydanticCustomError]:
    """The problem of a log that is to be replayed where there is none."""
    if load.speed is not None and not workload.has_log:
        yield problem(
            "replays the access log of system.sessions, which this system has not", "load", "speed"
        )
