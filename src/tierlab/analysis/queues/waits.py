"""What did requests at each server wait for?

The tracer of system calls divides a visit's time by what its thread did: it was on a CPU, ready to
run, asleep in a lock, and so on (off-CPU analysis: B. Gregg, "Systems Performance", 2nd edition,
2020, section 5.4.2). That is possible where one thread has the request to itself. Only visits with
parts are summed up here; all other visits count in :attr:`ServerWaits.visits` alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.queues.visits import ServerVisits
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import WAITS, Manifest

PARTS: Final = (
    *("queued", "cpu", "runnable", "throttled", "stopped", "disk", "lock", "calls"),
    *("connecting", "other", "sending"),
)
"""The parts of a visit, in the order in which run folders have them: ``queued_ns``, ``cpu_ns``."""

SLOWEST: Final = 0.01
"""The share of a server's measured visits that counts as its slowest."""

_HAS_PARTS = f"departure_ns {IN_SPAN} AND cpu_ns IS NOT NULL"


class Part(Result):
    """One part of some visits' time: its mean, and its share of their time.

    Both are None where the tracer could not tell this part.
    """

    name: str
    mean_s: float | None
    share: float | None


class Waiting(Result):
    """Some visits of a server: how many, their mean time from arrival to departure, its parts."""

    visits: int
    mean_s: float
    parts: list[Part]

    def share(self, name: str) -> float:
        """Return a part's share of the time; 0 where it is not known."""
        return next((each.share or 0.0 for each in self.parts if each.name == name), 0.0)


class ServerWaits(Result):
    """What the visits that left one server in the span waited for.

    ``visits`` is how many left, ``measured`` how many of them have parts. ``all`` are the measured
    ones, ``slowest`` the slowest 1 % of these; both are None where none has parts, and ``why`` says
    the reason. ``cpu_s`` is the CPU time of the measured visits together, ``other_call`` the system
    call in which they slept longest for anything else, ``callees`` the servers that it calls.
    """

    server: str
    visits: int
    measured: int
    measured_share: float | None
    all: Waiting | None
    slowest: Waiting | None
    cpu_s: float | None
    other_call: str | None
    callees: list[str]
    why: str | None


def server_waits(
    db: Connection, span: Span, visits: Sequence[ServerVisits], manifest: Manifest
) -> list[ServerWaits]:
    """Return what visits waited for at each server, in the order of ``visits``."""
    found = _sums(db, span)
    calls = _other_calls(db, span) if found else {}
    return [
        _server(each, found.get(each.server), calls.get(each.server), manifest, traced=bool(found))
        for each in visits
    ]


def _sums(db: Connection, span: Span) -> dict[str, dict[str, Any]]:
    """Return by server the sums over its measured visits, and over the slowest of them."""
    names = ("took", *PARTS)
    sums = ", ".join(f"sum({name}_ns)::DOUBLE AS all_{name}" for name in names)
    slow = ", ".join(
        f"sum({name}_ns) FILTER (WHERE slow)::DOUBLE AS slowest_{name}" for name in names
    )
    parts = ", ".join(f"{name}_ns" for name in PARTS)
    found = rows(
        db,
        f"""WITH measured AS (
            SELECT server, departure_ns - arrival_ns AS took_ns, {parts} FROM visits
            WHERE {_HAS_PARTS}
        ), limits AS (
            SELECT server, quantile_cont(took_ns, {1 - SLOWEST}) AS least_ns FROM measured
            GROUP BY server
        ) SELECT server, count(*) AS all_visits, count(*) FILTER (WHERE slow) AS slowest_visits,
            {sums}, {slow}
        FROM (SELECT *, took_ns >= least_ns AS slow FROM measured JOIN limits USING (server))
        GROUP BY server""",
        bounds(span),
    )
    return {each["server"]: each for each in found}


def _other_calls(db: Connection, span: Span) -> dict[str, str]:
    """Return by server the system call with the most time of the part ``other``."""
    found = rows(
        db,
        f"""SELECT server, arg_max(other_call, slept_ns) AS other_call FROM (
            SELECT server, other_call, sum(other_ns) AS slept_ns FROM visits
            WHERE {_HAS_PARTS} AND other_ns > 0 AND other_call IS NOT NULL GROUP BY ALL
        ) GROUP BY server""",
        bounds(span),
    )
    return {each["server"]: each["other_call"] for each in found}


def _server(
    visits: ServerVisits,
    sums: Mapping[str, Any] | None,
    other_call: str | None,
    manifest: Manifest,
    *,
    traced: bool,
) -> ServerWaits:
    measured = 0 if sums is None else int(sums["all_visits"])
    cpu_ns = None if sums is None else sums["all_cpu"]
    return ServerWaits(
        server=visits.server,
        visits=visits.count,
        measured=measured,
        measured_share=measured / visits.count if visits.count else None,
        all=None if sums is None else _waiting(sums, "all"),
        slowest=None if sums is None else _waiting(sums, "slowest"),
        cpu_s=None if cpu_ns is None else cpu_ns / 1e9,
        other_call=other_call,
        callees=manifest.topology.callees(visits.server),
        why=None if sums is not None else _why(visits, manifest, traced=traced),
    )


def _waiting(sums: Mapping[str, Any], which: str) -> Waiting:
    visits, took_ns = int(sums[f"{which}_visits"]), sums[f"{which}_took"]
    parts = []
    for name in PARTS:
        spent_ns = sums[f"{which}_{name}"]
        if spent_ns is None:
            parts.append(Part(name=name, mean_s=None, share=None))
            continue
        share = spent_ns / took_ns if took_ns else None
        parts.append(Part(name=name, mean_s=spent_ns / visits / 1e9, share=share))
    return Waiting(visits=visits, mean_s=took_ns / visits / 1e9, parts=parts)


def _why(visits: ServerVisits, manifest: Manifest, *, traced: bool) -> str:
    """Say why a server's visits have no parts; ``traced`` is whether another server's have."""
    said = manifest.not_measured
    reason = said.get(f"{WAITS} of {visits.server}") or said.get(WAITS)
    if reason:
        return reason
    if not visits.count:
        return "no visit left the server"
    if not traced:
        return "threads were not traced"
    server = manifest.servers.get(visits.server)
    if server is not None and server.worker_threads is False:
        return "its threads each serve several requests at once"
    return "no thread had a request to itself"
