"""Each server's visits, queue and load side by side: what the picture of the tiers shows."""

from tierlab.analysis.queues.visits import ServerVisits, unvisited
from tierlab.analysis.requests.distribution import Distribution
from tierlab.analysis.requests.time_shares import TimeShares
from tierlab.analysis.resources.resources import Resource
from tierlab.analysis.result import Result
from tierlab.tables.manifest import Manifest, ServerPart


class Queue(Result):
    """A queue length: its mean over time and its highest 50 ms mean."""

    mean: float
    peak: float


class Load(Result):
    """CPU in cores: mean, and the highest tick."""

    mean: float
    peak: float


class Server(Result):
    """One server: ``software`` and ``soft`` as deployed, and what the tables hold of it."""

    name: str
    tier: str
    software: str | None
    address: str | None
    soft: dict[str, int]
    visits: int | None
    rate: float | None
    unfinished: int | None
    time: Distribution | None
    queue: Queue | None
    cpu: Load | None


def servers(
    manifest: Manifest,
    visits: list[ServerVisits],
    peaks: dict[str, float],
    resources: list[Resource],
    shares: TimeShares | None,
) -> list[Server]:
    """Join what is known of each server by its name, from the users on.

    ``peaks`` are their peak queue lengths. The tracer watches all servers or none: where it saw
    visits, one without any (a database node that nobody asked) had none, which is a measured zero.
    That is unknown of a server that was called at a UNIX socket, if nobody saw messages there.
    """
    seen = {each.server: each for each in visits}
    cpu = _cpu(resources)
    names = sorted(manifest.servers.keys() | seen.keys())
    if visits:
        traced = [name for name in names if name in seen or not manifest.visits_unseen(name)]
        seen = {name: seen.get(name, unvisited(name)) for name in traced}
        peaks = {**dict.fromkeys(traced, 0.0), **peaks}
    if shares is not None:
        names.sort(key=shares.position)
    return [
        _server(name, manifest.servers.get(name), seen.get(name), peaks.get(name), cpu.get(name))
        for name in names
    ]


def _cpu(resources: list[Resource]) -> dict[str, Load]:
    """Return each server's CPU: as its control group counts it, else as its processes do."""
    found: dict[str, Load] = {}
    for table, metric in (("process", "running"), ("domain", "cpu")):
        for each in resources:
            if (each.table, each.metric) == (table, metric):
                found[each.subject] = Load(mean=each.mean, peak=each.peak)
    return found


def _server(
    name: str,
    part: ServerPart | None,
    visits: ServerVisits | None,
    peak: float | None,
    cpu: Load | None,
) -> Server:
    queue = None
    if visits is not None and peak is not None:
        queue = Queue(mean=visits.queue_mean, peak=peak)
    return Server(
        name=name,
        tier=part.tier if part is not None else tier_name(name),
        software=" ".join(filter(None, (part.server, part.version))) if part is not None else None,
        address=part.where if part is not None else None,
        soft=dict(part.soft) if part is not None else {},
        visits=visits.count if visits is not None else None,
        rate=visits.rate if visits is not None else None,
        unfinished=visits.unfinished if visits is not None else None,
        time=visits.time if visits is not None else None,
        queue=queue,
        cpu=cpu,
    )


def tier_name(server: str) -> str:
    """Return the tier that a server's name stands for: ``db.2`` is of tier ``db``."""
    return server.rsplit(".", 1)[0]
