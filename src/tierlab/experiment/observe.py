"""`[observe]`: what is recorded besides the requests, and how finely."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tierlab.experiment.profile import Profile
from tierlab.values.kinds import Duration, Selection, Text
from tierlab.values.quantities import MILLISECOND, SECOND
from tierlab.values.section import Section

SAMPLERS = (
    "cpu",
    "memory",
    "disk",
    "net",
    "tcp",
    "listen",
    "pressure",
    "process",
    "domain",
    "database",
    "cache",
)
"""Each fills the table of its name."""


MACHINE = Text("\"host\", a file of lstopo's, or a machine in hwloc's words", r"[^\0-\x1f]{1,4096}")


class Observe(Section):
    """Samplers and message capture."""

    interval_ns: Annotated[int, Duration("10ms", "10s")] = Field(
        default=50 * MILLISECOND, alias="interval"
    )
    """Time between samples."""

    thread_interval_ns: Annotated[int, Duration("10ms", "10s")] = Field(
        default=SECOND, alias="thread_interval"
    )
    """Time between samples of every single thread."""

    samplers: Annotated[tuple[str, ...], Selection(SAMPLERS)] = SAMPLERS
    """What is sampled."""

    simulated_caches: Annotated[str | None, MACHINE] = Field(default=None, examples=["host"])
    """Simulates caches for servers whose processors QEMU emulates, and fills the table `counters`:
    "host" for this machine's caches; another machine's by a file of lstopo's (.xml) or in hwloc's
    words, such as "pack:2 l3:1(size=8MiB) l2:1(size=1MiB) l1d:1(size=32KiB) core:1 pu:1". Servers
    take two to five times as long then."""

    calls: bool = False
    """Whether it is looked, too, which server opens connections to which, and by what protocol, as
    `tierlab check` does (needs privilege)."""

    messages: bool = True
    """Whether messages between the tiers are captured and made into visits (needs privilege)."""

    system_calls: bool = True
    """Whether the kernel is asked which thread reads and sends which message, and what it waits for
    in between (needs privilege). It makes links exact and shows what requests wait for."""

    profile: Profile | None = None
    """In which functions it is sampled that events happen."""

    @property
    def records_stacks(self) -> bool:
        """Whether call stacks are recorded."""
        return self.profile is not None and self.profile.stacks
