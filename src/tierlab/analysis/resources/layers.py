"""What of the machine's CPUs and disks was used, and what of it virtualisation took.

Sources: R. NasiriGerdeh et al., "Performance Investigation of Multi-tier Web Applications in Xen
Virtualized Environment" (2017), section 3.4, equations 1-3 (use of CPUs by a native system and by
Xen's domains, use of disks); P. Padala et al., "Performance Evaluation of Virtualization
Technologies for Server Consolidation" (HP Labs, 2007), section 3.2 (CPU of each container);
J. Park, "Performance Scalability of N-Tier Application in Virtualized Cloud Environments" (PhD
thesis, Georgia Institute of Technology, 2016), figures 18-20 (latency and queue length of requests
to disks at the levels that they pass).
"""

from typing import Literal

from tierlab.analysis.query import Connection, bounds, rows
from tierlab.analysis.resources.resources import Resource
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

VCPU = r"^CPU \d+/"
"""How QEMU names the thread of a virtual CPU."""


DOMAIN_0 = "Domain-0"
"""What Xen calls the domain that serves the others."""


class DomainCpu(Result):
    """A server's domain from outside, in cores: ``total`` is all that it took.

    Where a hypervisor runs it, ``vcpus`` is what its virtual CPUs ran and ``waiting`` how much
    longer they were ready to (a mean number of virtual CPUs). Where that is a process, ``host`` is
    the rest of ``total``: device models, network and disk of the host's that worked for it alone.
    Xen has domain 0 for those, in which they cannot be told apart.
    """

    name: str
    total: float
    vcpus: float | None
    waiting: float | None
    host: float | None


Level = Literal["guest", "hypervisor", "device"]


class DiskLevel(Result):
    """A disk as one level sees it: the kernel in a guest, its hypervisor, or the host's kernel.

    ``latency_s`` is the mean time of the requests that ended, queueing included (None: there were
    none); ``queue_length`` the mean number in flight. What the hypervisor sees is the guest latency
    of Park's thesis, and what of it is beyond the device's is its kernel latency; what the kernel
    in the guest sees has the wait in its own queue besides.
    """

    level: Level
    subject: str
    requests: int
    latency_s: float | None
    queue_length: float


class Layers(Result):
    """Means over the span. ``system`` is equation 1 averaged over the cores: user, system and nice
    time by the host's kernel. ``of_domains`` is equation 2, the sum over all domains per core.
    ``disks`` is equation 3, each disk's busy time per time.
    """

    cores: int | None
    system: float | None
    of_domains: float | None
    domains: list[DomainCpu]
    disks: dict[str, float]
    disk_levels: list[DiskLevel]


def layers(db: Connection, span: Span, resources: list[Resource], cores: int | None) -> Layers:
    """Sum up by layer what was sampled on the host, which has so many cores (None: unknown).

    Where the servers' machine is emulated, ``cores`` is how many it has: what is said of domains is
    of its time.
    """
    domains = _domains(db, span, resources)
    return Layers(
        cores=cores,
        system=_system(db, span),
        of_domains=sum(each.total for each in domains) / cores if cores and domains else None,
        domains=domains,
        disks={
            each.subject: each.mean
            for each in resources
            if (each.table, each.metric) == ("disk", "busy")
        },
        disk_levels=[
            *_disk_levels(db, span, "inside_disk", "guest"),
            *_disk_levels(db, span, "hypervisor_disk", "hypervisor"),
            *_disk_levels(db, span, "disk", "device"),
        ],
    )


def _system(db: Connection, span: Span) -> float | None:
    (found,) = rows(
        db,
        """SELECT sum(("user" + system) * dt_ns) / sum(dt_ns) AS mean FROM cpu
           WHERE t_ns > $start AND t_ns <= $end AND ("user" + system) IS NOT NULL""",
        bounds(span),
    )
    mean: float | None = found["mean"]
    return mean


def _disk_levels(db: Connection, span: Span, table: str, level: Level) -> list[DiskLevel]:
    found = rows(
        db,
        f"""SELECT subject, sum(reads + writes)::BIGINT AS requests,
            sum(read_time_ns + write_time_ns) / 1e9 / nullif(sum(reads + writes), 0) AS latency_s,
            sum(queue_length * dt_ns) / sum(dt_ns) AS queue_length
            FROM {table} WHERE t_ns > $start AND t_ns <= $end AND dt_ns > 0
            GROUP BY subject ORDER BY subject""",
        bounds(span),
    )
    return [DiskLevel.model_validate({**each, "level": level}) for each in found]


def _domains(db: Connection, span: Span, resources: list[Resource]) -> list[DomainCpu]:
    totals = {
        each.subject: each.mean
        for each in resources
        if (each.table, each.metric) == ("domain", "cpu")
    }
    if DOMAIN_0 in totals:
        stolen = _stolen(db, span)
        return [
            DomainCpu(name=name, total=total, vcpus=total, waiting=stolen.get(name), host=None)
            for name, total in totals.items()
        ]
    vcpus = _vcpus(db, span)
    found = []
    for name, total in totals.items():
        run, wait = vcpus.get(name, (None, None))
        host = None if run is None else max(0.0, total - run)
        found.append(DomainCpu(name=name, total=total, vcpus=run, waiting=wait, host=host))
    return found


def _stolen(db: Connection, span: Span) -> dict[str, float]:
    """Return how many of each domain's virtual CPUs were ready and not run, by their own kernel.

    Xen tells each domain how long its virtual CPUs had to wait.
    """
    found = rows(
        db,
        """SELECT split_part(subject, '/', 1) AS name, sum(steal) AS waiting FROM (
               SELECT subject, sum(steal * dt_ns) / sum(dt_ns) AS steal FROM inside_cpu
               WHERE t_ns > $start AND t_ns <= $end AND steal IS NOT NULL GROUP BY subject)
           GROUP BY name""",
        bounds(span),
    )
    return {each["name"]: each["waiting"] for each in found}


def _vcpus(db: Connection, span: Span) -> dict[str, tuple[float, float | None]]:
    """Return what each guest's virtual CPUs ran and waited, in cores."""
    found = rows(
        db,
        f"""SELECT subject, sum(run) AS run, sum(wait) AS wait FROM (
                SELECT subject, sum(run_ns) / sum(dt_ns) AS run, sum(wait_ns) / sum(dt_ns) AS wait
                FROM process WHERE regexp_matches(name, '{VCPU}') AND thread IS NOT NULL
                AND t_ns > $start AND t_ns <= $end AND dt_ns > 0 AND run_ns IS NOT NULL
                GROUP BY subject, process, thread)
            GROUP BY subject""",
        bounds(span),
    )
    return {each["subject"]: (each["run"], each["wait"]) for each in found}
