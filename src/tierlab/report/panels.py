"""All charts over one time axis, in their order, with the moments that are worth a look."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.analysis.observed import Observed
from tierlab.analysis.span import Span
from tierlab.analysis.statistics.episodes import Episode, episodes
from tierlab.analysis.summary import Summary
from tierlab.diagnosis.finding import Finding, Window
from tierlab.report import request_panels
from tierlab.report.diagnosis import cause_name
from tierlab.report.event_panels import events
from tierlab.report.lines import Axis, fine, moments
from tierlab.report.panel import Panel
from tierlab.report.resource_panels import resources

ZOOMS = 3
MOST_MARKED = 1 / 3
"""Of the axis, by events of one kind."""

INSTANT = 1 / 1500
"""Of the axis: the page draws no stretch narrower, as it would not be seen."""


@dataclass(frozen=True)
class Shade:
    """A stretch of time that all panels mark."""

    kind: str
    start: float
    end: float


@dataclass(frozen=True)
class Panels:
    """All charts over one time axis.

    ``zooms`` are moments worth a look: from, to, and how many very long requests began in it;
    ``found`` those of the findings: from, to, and what was found.
    ``quiet`` are the panels that stayed at zero and are not drawn.
    """

    start_ns: int
    seconds: float
    runtime: tuple[float, float]
    panels: list[Panel]
    shades: list[Shade]
    zooms: list[tuple[float, float, int]]
    found: list[tuple[float, float, str]]
    quiet: list[str]


def panels(observed: Observed, summary: Summary, findings: list[Finding]) -> Panels | None:
    """Return all panels of a run, downstream below upstream; None when nothing was recorded.

    The windows of ``findings`` are shaded and may be zoomed to; those that are not too long for it
    are drawn finely.
    """
    if observed.whole is None or observed.measured is None:
        return None
    whole, measured = observed.whole, observed.measured
    slow = moments(summary.very_long, whole)
    found = [_around(finding.windows[0], whole) for finding in findings[:ZOOMS]]
    axis = Axis(whole, [span for span, _ in slow] + fine(found))
    shown, quiet = resources(observed, axis, summary)
    return Panels(
        start_ns=whole.start_ns,
        seconds=whole.seconds,
        runtime=(
            (measured.start_ns - whole.start_ns) / 1e9,
            (measured.end_ns - whole.start_ns) / 1e9,
        ),
        panels=[
            *request_panels.response(observed, axis),
            *request_panels.visit_time(observed, axis, summary),
            *request_panels.load(observed, axis),
            *request_panels.throughput(observed, axis),
            *request_panels.queues(observed, axis, summary),
            *shown,
            *events(observed, axis, summary),
            *request_panels.driver(observed, axis),
        ],
        shades=telling(
            [_shade(each.kind, each, whole) for each in episodes(observed.db, whole)], whole.seconds
        )
        + [_shade("finding", w, whole) for finding in findings for w in finding.windows],
        zooms=[
            ((span.start_ns - whole.start_ns) / 1e9, (span.end_ns - whole.start_ns) / 1e9, count)
            for span, count in slow[:ZOOMS]
        ],
        found=[
            (
                (span.start_ns - whole.start_ns) / 1e9,
                (span.end_ns - whole.start_ns) / 1e9,
                f"{cause_name(finding.cause)} at {finding.subject}",
            )
            for span, finding in zip(found, findings, strict=False)
        ],
        quiet=quiet,
    )


def _shade(kind: str, at: Window | Episode, whole: Span) -> Shade:
    start_ns, end_ns = at.start_ns - whole.start_ns, at.end_ns - whole.start_ns
    return Shade(kind, start_ns / 1e9, end_ns / 1e9)


def telling(shades: Sequence[Shade], seconds: float) -> list[Shade]:
    """Return those of each kind that marks no more than a third of the axis, of so many seconds:
    what marks more of it sets no time apart, and hides what does.
    """
    least = seconds * INSTANT
    marked: defaultdict[str, float] = defaultdict(float)
    for each in shades:
        marked[each.kind] += max(each.end - each.start, least)
    return [each for each in shades if marked[each.kind] <= MOST_MARKED * seconds]


def _around(window: Window, whole: Span) -> Span:
    """Return the stretch to zoom to: the window with as much before and after, 0.3 s at least, as
    far as the trial goes.
    """
    margin = max(window.end_ns - window.start_ns, 300_000_000)
    start, end = window.start_ns - margin, window.end_ns + margin
    return Span(max(whole.start_ns, start), min(whole.end_ns, end))
