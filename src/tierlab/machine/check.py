"""What a check of this machine found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How far something works here."""

    WORKS = "works"
    PARTLY = "partly"
    MISSING = "missing"


@dataclass(frozen=True)
class Check:
    """One thing that a run may want of this machine, tried."""

    group: str
    name: str
    verdict: Verdict
    seen: str
    """What the try showed."""
    lost: str | None = None
    """What a run lacks without it."""
    remedy: str | None = None
    """What to do about it; None when nothing can be done, or need be."""
    needed: bool = False
    """Whether the demo cannot run without it."""

    @property
    def stops_the_demo(self) -> bool:
        """Needed and not there."""
        return self.needed and self.verdict is Verdict.MISSING
