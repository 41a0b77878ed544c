"""What did requests at each server wait for?

The tracer of system calls divides a visit's time by what its thread did: it was on a CPU, ready to
run, asleep in a lock, and so on (off-CPU analysis: B. Gregg, "Systems Performance", 2nd edition,
2020, section 5.4.2). That is possible where one thread has the request to itself. Only visits with
parts are summed up here; all other visits count in :attr:`ServerWaits.visits` alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.queues.loop_threads import LoopThreads, loop_threads
from tierlab.analysis.queues.visits import ServerVisits
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import WAITS, Manifest

PARTS: Final = (
    *("queued", "cpu", "runnable", "throttled", "stopped", "disk", "lock", "calls"),
    *("connecting", "other", "sending"),
)
"""The parts of a visit, in the order in which run folders have them: ``queued_ns``, ``cpu_ns``."""

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

    def total_s(self, name: str) -> float | None:
        """Return how long a part lasted in all visits together; None where it is not known."""
        (mean_s,) = (each.mean_s for each in self.parts if each.name == name)
        return None if mean_s is None else mean_s * self.visits


class ServerWaits(Result):
    """What the visits that left one server in the span waited for.

    ``visits`` is how many left, ``measured`` how many of them have parts. ``all`` are the measured
    ones, ``slowest`` those of them that are among the slowest 1 % of the visits; each is None where
    there are none, and where ``all`` is None ``why`` says the reason. ``cpu_s`` is the CPU time of
    the measured visits together, ``other_call`` the system call in which they slept longest for
    anything else, ``callees`` the servers that it calls. Where ``all`` is None ``loops`` are what
    its threads did that had several requests under way; None where none had.
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
    loops: LoopThreads | None = None


def server_waits(
    db: Connection, span: Span, visits: Sequence[ServerVisits], manifest: Manifest
) -> list[ServerWaits]:
    """Return what visits waited for at each server, in the order of ``visits``."""
    found = _sums(db, span, visits)
    calls = _other_calls(db, span) if found else {}
    loops = loop_threads(db, span)
    traced = bool(found or loops)
    servers = [
        _server(each, found.get(each.server), calls.get(each.server), manifest, traced=traced)
        for each in visits
    ]
    return [
        each.model_copy(update={"loops": loops.get(each.server)}) if each.all is None else each
        for each in servers
    ]


def _sums(
    db: Connection, span: Span, visits: Sequence[ServerVisits]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return by server the sums over its measured visits: ``slowest`` of the slowest hundredth,
    ``others`` of the rest. One pass over the visits, and no sorting: the percentiles are known.
    """
    limits = {each.server: each.time.p99_s for each in visits if each.time is not None}
    found = rows(
        db,
        f"""SELECT server, if(departure_ns - arrival_ns >= least_ns, 'slowest', 'others') AS which,
            count(*) AS visits, sum(departure_ns - arrival_ns) AS took,
            {", ".join(f"sum({name}_ns) AS {name}" for name in PARTS)}
        FROM visits JOIN (
            SELECT unnest($servers::VARCHAR[]) AS server, unnest($limits::BIGINT[]) AS least_ns
        ) USING (server) WHERE {_HAS_PARTS} GROUP BY ALL""",
        {
            **bounds(span),
            "servers": list(limits),
            "limits": [round(each * 1e9) for each in limits.values()],
        },
    )
    sums: dict[str, dict[str, dict[str, Any]]] = {}
    for each in found:
        sums.setdefault(each["server"], {})[each["which"]] = each
    return sums


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
    sums: Mapping[str, Mapping[str, Any]] | None,
    other_call: str | None,
    manifest: Manifest,
    *,
    traced: bool,
) -> ServerWaits:
    measured = _waiting(*sums.values()) if sums else None
    cpu_s = None if measured is None else measured.total_s("cpu")
    count = 0 if measured is None else measured.visits
    return ServerWaits(
        server=visits.server,
        visits=visits.count,
        measured=count,
        measured_share=count / visits.count if visits.count else None,
        all=measured,
        slowest=_waiting(sums["slowest"]) if sums and "slowest" in sums else None,
        cpu_s=cpu_s,
        other_call=other_call,
        callees=manifest.topology.callees(visits.server),
        why=_why(visits, manifest, traced=traced) if measured is None else None,
    )


def _waiting(*sums: Mapping[str, Any]) -> Waiting:
    """Return what the visits of one or more groups waited for."""
    visits, took_ns = sum(each["visits"] for each in sums), sum(each["took"] for each in sums)
    parts = []
    for name in PARTS:
        known = [each[name] for each in sums if each[name] is not None]
        if not known:
            parts.append(Part(name=name, mean_s=None, share=None))
            continue
        share = sum(known) / took_ns if took_ns else None
        parts.append(Part(name=name, mean_s=sum(known) / visits / 1e9, share=share))
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
    if server is not None and server.pass_through:
        return "it passes connections on, and its threads are not traced"
    if server is not None and server.worker_threads is False:
        return "its threads each serve several requests at once"
    return "no thread had a request to itself"
