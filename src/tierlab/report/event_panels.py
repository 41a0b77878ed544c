"""The charts of what processors, kernels and simulated caches count, where a run has that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.resources.event_rates import (
    EventKind,
    Of,
    Rate,
    a_request,
    event_kinds,
    rates,
    ratios,
)
from tierlab.analysis.summary import Summary
from tierlab.report.colours import series, server_styles
from tierlab.report.lines import Axis, highest
from tierlab.report.panel import Panel, reading
from tierlab.report.profile import COUNTED_BY


@dataclass(frozen=True)
class _Head:
    title: str
    about: str
    unit: str = ""


def events(observed: Observed, axis: Axis, summary: Summary) -> list[Panel]:
    """Return the charts of each event, and of those that mean more as a ratio; none of what never
    happened.
    """
    if not observed.run.has("counters"):
        return []
    db, whole = observed.db, axis.whole
    styles = server_styles(summary)
    kinds = event_kinds(db, whole)
    found: list[Panel | None] = []
    for kind in kinds:
        by = f"counted by {COUNTED_BY.get(kind.source, kind.source)}, a second"
        of: Of
        for of, name in (("cpu", "core"), ("domain", "server")):
            title = f"{kind.event} by {name}"
            found.append(_panel(_Head(title, by, "/s"), rates(db, whole, kind, of), axis, styles))
        if kind.is_miss:
            head = _Head(f"{kind.event} a request", "for each request that ended well, by second")
            found.append(_panel(head, a_request(db, whole, kind), axis, styles))
    for kind, below, title in _ratios(kinds):
        head = _Head(title, "of each server")
        found.append(_panel(head, ratios(db, whole, kind, below), axis, styles))
    shown = [each for each in found if each is not None]
    return [replace(each, key=f"events-{number}") for number, each in enumerate(shown)]


def _ratios(kinds: Sequence[EventKind]) -> list[tuple[EventKind, EventKind, str]]:
    named = {(each.event, each.source): each for each in kinds}
    found = []
    for kind in kinds:
        cycles = named.get(("cycles", kind.source))
        instructions = named.get(("instructions", kind.source))
        if kind is instructions and cycles is not None:
            found.append((kind, cycles, "Instructions a cycle"))
        if kind.is_miss and instructions is not None:
            found.append((kind, instructions, f"{kind.event} an instruction"))
    return found


def _panel(
    head: _Head,
    seen: Sequence[Rate],
    axis: Axis,
    styles: dict[str, tuple[str, str]],
) -> Panel | None:
    seen = [each for each in seen if np.nan_to_num(each.value).any()]
    if not seen:
        return None
    shown = highest(seen, lambda each: each, styles)
    lines = [
        axis.line(each.subject, styles.get(each.subject, series(index)), each.t_ns, each.value)
        for index, each in enumerate(shown)
    ]
    about = head.about
    if len(seen) > len(shown):
        about = f"{about}; the {len(shown)} highest of {len(seen)}"
    return Panel("events", head.title, about, head.unit, lines, reading(lines, head.unit))
