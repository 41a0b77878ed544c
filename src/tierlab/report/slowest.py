"""The slowest visits of users' requests, as bars on a time axis of their own."""

from dataclasses import dataclass

from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.slowest_visits import SlowVisit, VisitSpan, slowest_visits
from tierlab.analysis.summary import Summary
from tierlab.report.figures import seconds
from tierlab.report.waits import LEAST_SEEN, Segment, segment


@dataclass(frozen=True)
class Row:
    """A visit's bar: where it begins and how wide it is, in percent, and its parts within."""

    server: str
    label: str
    indent: int
    left: float
    width: float
    figure: str
    segments: list[Segment]
    words: str


@dataclass(frozen=True)
class Slowest:
    """One slow request: when it arrived after the start of the trial, and its visits' bars."""

    heading: str
    rows: list[Row]
    left_out: int


def slowest(observed: Observed, summary: Summary) -> list[Slowest]:
    """Return the slowest requests; none where no visit has parts to be shown."""
    whole, measured = observed.whole, observed.measured
    if whole is None or measured is None or all(each.all is None for each in summary.waits):
        return []
    entries = observed.run.manifest.topology.entries
    return [
        _slowest(each, whole.start_ns) for each in slowest_visits(observed.db, measured, entries)
    ]


def _slowest(found: SlowVisit, start_ns: int) -> Slowest:
    at_s = (found.arrival_ns - start_ns) / 1e9
    first = found.visits[0]
    heading = f"{first.label or first.server}: {seconds(found.took_s)}, from second {at_s:,.2f} on"
    return Slowest(heading, [_row(each, found.took_s) for each in found.visits], found.left_out)


def _row(visit: VisitSpan, took_s: float) -> Row:
    segments = [segment(each) for each in visit.parts if (each.share or 0.0) >= LEAST_SEEN]
    # A label has the room that its visit has of the axis.
    share = (visit.to_s - visit.from_s) / took_s if took_s else 0.0
    segments = [
        each if share > 0.9 else Segment(each.name, each.width, "", each.title) for each in segments
    ]
    after = " (goes on after the reply)" if visit.took_s > visit.to_s - visit.from_s + 1e-9 else ""
    what = ", ".join(each.title for each in segments) or "parts not measured"
    return Row(
        server=visit.server,
        label=visit.label,
        indent=visit.depth,
        left=round(100 * visit.from_s / took_s, 3) if took_s else 0.0,
        width=round(100 * share, 3),
        figure=f"{seconds(visit.took_s)}{after}",
        segments=segments,
        words=f"{visit.server}, {seconds(visit.took_s)}{after}: {what}",
    )
