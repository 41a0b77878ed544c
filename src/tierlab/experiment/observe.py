"""`[observe]`: what is recorded besides the requests, and how finely."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tierlab.values.kinds import Duration, Selection
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

    calls: bool = False
    """Whether it is looked, too, which server opens connections to which, and by what protocol, as
    `tierlab check` does (needs privilege)."""

    messages: bool = True
    """Whether messages between the tiers are captured and made into visits (needs privilege)."""
