"""The lines of the charts: on one time axis, decimated where nobody looks closely."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from tierlab.analysis.query import Floats, Ints
from tierlab.analysis.requests.very_long import VeryLong
from tierlab.analysis.span import Span
from tierlab.report.decimate import keep

BUCKETS = 2_000
"""Stretches that decimation keeps apart: more than a wide screen's panel has pixels."""
MOST_LINES = 8
"""In one panel."""
DETAIL_S = 150.0
"""So many seconds of the moments that the page offers to zoom to keep every point: of very long
requests in all, and as many of findings.
"""
_MARGIN_NS = 1_000_000_000


@dataclass(frozen=True)
class Line:
    """One line of a panel: seconds since the trial's start and values."""

    name: str
    colour: str
    dash: str
    t: Floats
    value: Floats


@dataclass(frozen=True)
class Axis:
    """The time axis of all panels, and the moments at which lines keep every point."""

    whole: Span
    details: list[Span]

    def line(self, name: str, style: tuple[str, str], t_ns: Ints, value: Floats) -> Line:
        """Return a line of the values at ``t_ns`` (ascending), with the points worth keeping."""
        kept = keep(value, BUCKETS)
        if kept.size < value.size:
            parts = [np.arange(*np.searchsorted(t_ns, self._ends(each))) for each in self.details]
            kept = np.unique(np.concatenate([kept, *parts]))
        return Line(name, *style, (t_ns[kept] - self.whole.start_ns) / 1e9, value[kept])

    @staticmethod
    def _ends(span: Span) -> tuple[int, int]:
        return span.start_ns, span.end_ns


class OfSubject(Protocol):
    """What a subject had over time."""

    @property
    def subject(self) -> str:
        """Whose it is."""

    @property
    def value(self) -> Floats:
        """At its moments; NaN: not measured."""


Seen = TypeVar("Seen")


def highest(
    seen: Sequence[Seen], of: Callable[[Seen], OfSubject], servers: Iterable[str]
) -> list[Seen]:
    """Return as many as one panel can show, those that are highest on average: the ``servers`` in
    their order, then all others.
    """
    order = {name: index for index, name in enumerate(servers)}
    found = sorted(seen, key=lambda each: -float(np.nanmean(of(each).value)))[:MOST_LINES]
    return sorted(
        found, key=lambda each: (order.get(of(each).subject, len(order)), of(each).subject)
    )


def moments(found: VeryLong | None, whole: Span) -> list[tuple[Span, int]]:
    """Return when the largest clusters of very long requests began and were over, with a second
    on both sides, and how many; as many clusters as :data:`DETAIL_S` allows.
    """
    if found is None:
        return []
    left, chosen = DETAIL_S, list[tuple[Span, int]]()
    wait_ns = round(found.threshold_s * 1e9)
    for cluster in sorted(found.clusters, key=lambda each: -each.count):
        start = max(whole.start_ns, cluster.start_ns - _MARGIN_NS)
        end = min(whole.end_ns, cluster.end_ns + wait_ns + _MARGIN_NS)
        span = Span(start, end)
        if span.seconds > left:
            break
        left -= span.seconds
        chosen.append((span, cluster.count))
    return chosen


def fine(spans: Iterable[Span]) -> list[Span]:
    """Return those of the spans that are drawn with every point: as many, from the first, as
    :data:`DETAIL_S` allows. One that is too long keeps its peaks, as all else does.
    """
    left, chosen = DETAIL_S, list[Span]()
    for span in spans:
        if span.seconds <= left:
            left -= span.seconds
            chosen.append(span)
    return chosen
