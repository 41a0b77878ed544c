"""What was found of each application, as a table and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from blind import Blind, by_verdict
from counting import Count
from crowding import Crowd
from declaration import Application
from linking import Links, by_means
from parts import BAR, Appearance

LEAST_RIGHT = 0.99


@dataclass
class Result:
    """One application's figures; ``failed`` says why it has no more of them."""

    application: Application
    came_up: bool = False
    failed: str | None = None
    notes: list[str] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    errors: int = 0
    requests: int = 0
    single: list[Links] = field(default_factory=list)
    loaded: list[Links] = field(default_factory=list)
    crowd: Crowd | None = None
    blind: list[Blind] = field(default_factory=list)
    undisturbed: list[str] = field(default_factory=list)
    parts: list[Appearance] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def misses(self) -> list[str]:
        """Return what is not as it should be, a phrase each."""
        found = [] if self.failed is None else [self.failed.splitlines()[0]]
        found += [
            f"{each.server}: {each.visits} visits ({each.cut} cut), {each.logged} logged"
            for each in self.counts
            if not each.holds
        ]
        for each in self.single:
            if each.right_share is not None and each.right_share < LEAST_RIGHT:
                found.append(
                    f"{each.server}: {each.right_share:.1%} of calls have the right parent"
                )
            if each.invented > each.calls * (1 - LEAST_RIGHT):
                found.append(f"{each.server}: {each.invented} calls of no request have a parent")
        if self.crowd is not None and not self.crowd.holds:
            found.append(str(self.crowd))
        found += [str(each) for each in self.parts if each.share is not None and each.share < BAR]
        if self.requests and self.errors > self.requests / 100:
            found.append(f"{self.errors} of {self.requests} requests failed")
        return found

    def as_json(self) -> dict[str, Any]:
        """Return everything, for ``results.json``."""
        told = self.application
        return {
            "application": told.name,
            "title": told.title,
            "version": told.version,
            "runtime": told.runtime,
            "databases": told.databases,
            "brought": told.brought,
            "socket": told.socket,
            "came_up": self.came_up,
            "failed": self.failed,
            "requests": self.requests,
            "errors": self.errors,
            "visits": [asdict(each) | {"ratio": each.ratio} for each in self.counts],
            "links": {
                "one request at a time": [asdict(each) for each in self.single],
                "loaded": [asdict(each) for each in self.loaded],
                "crowded": None if self.crowd is None else asdict(self.crowd),
            },
            "blind": [asdict(each) for each in self.blind],
            "undisturbed": self.undisturbed,
            "parts": [asdict(each) | {"share": each.share} for each in self.parts],
            "misses": self.misses(),
            "check_notes": self.notes,
            "does_not_work": told.notes,
            "seconds": self.seconds,
        }

    def row(self) -> list[str]:
        """Return its cells."""
        told = self.application
        visits = ", ".join(map(str, self.counts)) or "-"
        certain = sum(each.certain for each in self.single)
        right = sum(each.right for each in self.single)
        one = f"{_means(self.single)}; right {right}/{certain}" if self.single else "-"
        many = _means(self.loaded) if self.loaded else "-"
        done = by_verdict(self.blind) or "-"
        alone = ", ".join(self.undisturbed) or "nothing"
        where = ", ".join(told.databases) or "none"
        came = "yes" if self.came_up else "no"
        missing = "; ".join(self.misses()) or "nothing"
        about = [told.title, told.runtime, where, told.brought, came]
        parts = "; ".join(map(str, self.parts)) or "-"
        crowd = "-" if self.crowd is None else str(self.crowd)
        return [*about, visits, one, many, crowd, parts, done, alone, missing]


HEADINGS = (
    "application", "runtime", "databases", "brought", "came up", "visits/logged",
    "links, one request at a time", "links under load", "links in a crowd",
    "what was done, in its part", "blind disturbances", "told undisturbed", "misses",
)  # fmt: skip


def _means(every: list[Links]) -> str:
    return (
        ", ".join(f"{name} {share:.1%}" for name, share in by_means(every).items()) or "none made"
    )


def markdown(results: list[Result]) -> str:
    """Return a row for each application."""
    rows = [list(HEADINGS), ["---"] * len(HEADINGS), *(each.row() for each in results)]
    return "\n".join(
        "| " + " | ".join(cell.replace("\n", " ") for cell in row) + " |" for row in rows
    )
