"""All stalls of a run: from its messages or, without them, from its users' records."""

from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.own_gaps import Gaps, own_gaps
from tierlab.analysis.span import Span
from tierlab.diagnosis.slow_paths import Visits, on_slow_paths, requests_of_users, visits_of
from tierlab.diagnosis.stalls import LEAST_GAP_NS, Stall, stalls
from tierlab.diagnosis.systems import requests_of
from tierlab.diagnosis.waits import connecting, responding, ways


def run_stalls(observed: Observed, span: Span) -> list[Stall]:
    """Return the stalls that began in the span."""
    run, db = observed.run, observed.db
    if not run.has("visits"):
        asked = requests_of(run.manifest)
        gaps = responding(db, span, LEAST_GAP_NS, asked)
        return stalls(_unusual(gaps, requests_of_users(db, asked)))
    found = stalls(_unusual(own_gaps(db, span, LEAST_GAP_NS), visits_of(db)))
    if run.has("requests"):
        entries = run.manifest.topology.entries
        for way in ways(entries, {name: run.manifest.servers[name].system for name in entries}):
            found += stalls(connecting(db, span, LEAST_GAP_NS, way))
    return found


def _unusual(gaps: Gaps, visits: Visits) -> Gaps:
    return gaps.of(~on_slow_paths(gaps, visits))
