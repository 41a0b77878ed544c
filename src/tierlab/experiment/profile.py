"""`[observe.profile]`: where events happen, sampled while a trial runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from tierlab.values.kinds import Whole
from tierlab.values.section import Section
from tierlab.values.texts import Chosen

HARDWARE = (
    *("cycles", "instructions", "branch-misses", "cache-references", "cache-misses"),
    *("LLC-loads", "LLC-load-misses", "dTLB-load-misses"),
)
"""Events that only a processor counts, and a virtual one often does not (perf-list(1))."""
SOFTWARE = ("cpu-clock", "page-faults", "major-faults", "context-switches", "cpu-migrations")
"""Events that the kernel counts."""
CLOCKS = ("cpu-clock",)
"""Of these, that are time: it is counted by other samplers."""
TIME = "time"
COUNTABLE = tuple(each for each in (*HARDWARE, *SOFTWARE) if each not in CLOCKS)
USUAL = "usual"


@dataclass(frozen=True)
class Events(Chosen):
    """At least one of them, or the word."""

    def check(self, value: object) -> tuple[str, ...] | str:
        """The names in their order."""
        found = super().check(value)
        if not found:
            raise ValueError
        return found


class Profile(Section):
    """Samples of where events happen (by server, program, function and call stack), and how many
    there are on each PU and in each server at every tick. Without this table, none."""

    events: Annotated[tuple[str, ...] | str, Events((*HARDWARE, *SOFTWARE), TIME)] = TIME
    """Which events, by perf's names; `"time"` is `cycles` where the processor counts them, else
    `cpu-clock`."""

    counted: Annotated[tuple[str, ...] | str, Chosen(COUNTABLE, USUAL)] = USUAL
    """Which events are counted, by perf's names; `"usual"` is what the processor counts of cycles,
    instructions, cache and branch misses, or else the kernel's page faults, context switches and
    migrations; `[]` is none."""

    rate: Annotated[int, Whole(1, 10_000)] = 99
    """Samples a second, of each PU and event, where events are frequent enough."""

    stacks: bool = True
    """Whether call stacks are recorded, as far as programs keep frame pointers."""
