"""A run opened for analysis: its tables, the whole trial, and the stretch that is summed up."""

from dataclasses import dataclass
from functools import cached_property

from tierlab.analysis.query import Connection, row
from tierlab.analysis.queues.in_progress import InProgress, visits_in_progress
from tierlab.analysis.queues.queue_length import QueueLengths, queue_lengths
from tierlab.analysis.queues.unfinished import hold_unfinished
from tierlab.analysis.requests.dropped import Retransmitted, retransmitted
from tierlab.analysis.requests.very_long import Threshold, chosen_threshold
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest
from tierlab.tables.run import Run

RUNTIME = "runtime"


@dataclass(frozen=True)
class Observed:
    """``whole`` is the trial, ``measured`` what the figures cover; None when nothing was seen.

    ``note`` is a sentence when ``measured`` is not the runtime.
    """

    run: Run
    db: Connection
    whole: Span | None
    measured: Span | None
    note: str | None

    @cached_property
    def very_long(self) -> Threshold | None:
        """From when on a request took very long; figures and findings both need it."""
        if self.measured is None:
            return None
        return chosen_threshold(self.db, self.measured, self.run.manifest.very_long)

    @cached_property
    def queue_lengths(self) -> QueueLengths | None:
        """Every server's queue length over the whole trial; figures and charts both need it."""
        if self.whole is None or not self.run.has("visits"):
            return None
        return queue_lengths(self.in_progress, self.whole)

    @cached_property
    def in_progress(self) -> dict[str, InProgress]:
        """Every server's arrivals and departures over the whole trial; empty without visits."""
        if self.whole is None or not self.run.has("visits"):
            return {}
        return visits_in_progress(self.db, self.whole)

    @cached_property
    def retransmitted(self) -> Retransmitted:
        """All connection requests that were sent again; findings and their chains need them."""
        return retransmitted(self.db, self.whole or Span(0, 0))


def observe(run: Run) -> Observed:
    """Open a run's tables, with ``held`` beside them, and find which stretch its figures cover."""
    db = run.connect()
    db.execute("SET enable_progress_bar = false")
    whole = whole_span(db, run.manifest)
    if whole is None:
        return Observed(run, db, None, None, None)
    hold_unfinished(db, whole)
    measured, note = measured_span(run.manifest, whole)
    return Observed(run, db, whole, measured, note)


def whole_span(db: Connection, manifest: Manifest) -> Span | None:
    """Return the trial from its first phase to its last; without phases, from the first to the last
    thing that any table saw; None when nothing was seen.

    A driver that was killed wrote no end of the phase that it was in: where the runtime is not
    among the phases, the trial goes on to the end of the last request.
    """
    if not manifest.phases:
        return _seen(db)
    start = min(phase.start_ns for phase in manifest.phases)
    end = max(phase.end_ns for phase in manifest.phases)
    if manifest.phase(RUNTIME) is None:
        last = row(db, "SELECT max(end_ns) AS end_ns FROM requests", {})["end_ns"]
        end = end if last is None else max(end, last + 1)
    return Span(start, end) if end > start else None


def _seen(db: Connection) -> Span | None:
    seen = row(
        db,
        """SELECT min(first) AS first, max(last) AS last FROM (
            SELECT min(intended_ns) AS first, max(end_ns) AS last FROM requests
            UNION ALL SELECT min(arrival_ns), max(greatest(arrival_ns, departure_ns)) FROM visits
            UNION ALL SELECT min(t_ns), max(t_ns) FROM cpu)""",
        {},
    )
    if seen["first"] is None or seen["last"] is None:
        return None
    return Span(seen["first"], seen["last"] + 1)


def measured_span(manifest: Manifest, whole: Span) -> tuple[Span, str | None]:
    """Return the stretch that the figures cover, and a sentence when it is not the runtime."""
    runtime = manifest.phase(RUNTIME)
    if runtime is not None and runtime.end_ns > runtime.start_ns:
        return Span(runtime.start_ns, runtime.end_ns), None
    return whole, "No end of the runtime was recorded: the figures cover all that was, ramp-up too."
