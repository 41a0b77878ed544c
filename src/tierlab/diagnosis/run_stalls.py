"""All stalls of a run: from its messages or, without them, from its users' records."""

from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.own_gaps import own_gaps
from tierlab.analysis.span import Span
from tierlab.diagnosis.stalls import LEAST_GAP_NS, Stall, is_called_by, stalls, users_of
from tierlab.diagnosis.waits import connecting, responding


def run_stalls(observed: Observed, span: Span) -> list[Stall]:
    """Return the stalls that began in the span."""
    run, db = observed.run, observed.db
    if not run.has("visits"):
        return stalls(responding(db, span, LEAST_GAP_NS))
    found = stalls(own_gaps(db, span, LEAST_GAP_NS))
    if run.has("requests"):
        systems: list[str | None] = [*run.manifest.systems]
        for system in systems or [None]:
            users = users_of(system)
            called = (each for each in run.manifest.topology.entries if is_called_by(each, users))
            if (entry := next(called, None)) is not None:
                found += stalls(connecting(db, span, LEAST_GAP_NS, entry, system))
    return found
