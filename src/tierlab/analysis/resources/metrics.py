"""Which columns of the samplers' tables are shown, in which unit, and how they are summed up."""

from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["share", "rate", "level", "count"]


@dataclass(frozen=True)
class Metric:
    """A figure per tick and subject.

    ``value`` is SQL over the table's columns. A ``share`` is 0..1 and saturates at
    :data:`SATURATED`; a ``rate`` is a mean over the tick; a ``level`` was read at its end; a
    ``count`` is what happened in the tick, and its total matters more than its mean. Several rows
    of one subject in one tick (a server's processes) are summed.
    """

    table: str
    name: str
    value: str
    unit: str
    kind: Kind
    subject: str = "subject"
    where: str = "true"


SATURATED: Final = 0.95
"""A share from here on counts as saturated: true 50 ms CPU sources err by 2 to 3 points rms."""


HELD_BACK: Final = "throttled_ns * 1.0 / greatest(throttled_ns + coalesce(cpu_ns, 0), dt_ns)"
"""The share of the time in which a domain's CPU limit held it back, as SQL. The kernel sums both
over the CPUs, so it is a share of the CPU time that the domain used and was kept from; of the clock
where that is longer, as who hardly wants to run is hardly held back. A stop is told at its end."""


def _rate(column: str) -> str:
    return f"{column} * 1e9 / dt_ns"


METRICS: Final = (
    Metric("cpu", "busy", "busy", "share", "share"),
    Metric("cpu", "iowait", "iowait", "share", "share"),
    Metric("cpu", "steal", "steal", "share", "share"),
    Metric("memory", "used", "(total - available) / total", "share", "share"),
    Metric("memory", "dirty", "dirty", "B", "level"),
    Metric("memory", "major faults", _rate("major_faults"), "/s", "rate"),
    Metric("memory", "swapped in", _rate("swapped_in"), "B/s", "rate"),
    Metric("disk", "busy", "busy", "share", "share"),
    Metric("disk", "queue length", "queue_length", "", "rate"),
    Metric("disk", "read", _rate("bytes_read"), "B/s", "rate"),
    Metric("disk", "written", _rate("bytes_written"), "B/s", "rate"),
    Metric("net", "traffic", _rate("(bytes_in + bytes_out)"), "B/s", "rate"),
    Metric("net", "drops", "drops_in + drops_out", "", "count"),
    Metric("tcp", "established", "established", "", "level"),
    Metric("tcp", "retransmissions", "retransmissions", "", "count"),
    Metric("tcp", "SYN retransmissions", "syn_retransmissions", "", "count"),
    Metric("tcp", "listen overflows", "listen_overflows", "", "count"),
    Metric("tcp", "listen drops", "listen_drops", "", "count"),
    Metric("listen", "accept queue", "accept_queue", "", "level"),
    Metric("pressure", "some", '"some"', "share", "share", "subject || ' ' || resource"),
    Metric("pressure", "full", '"full"', "share", "share", "subject || ' ' || resource"),
    Metric("domain", "cpu", "cpu_ns / dt_ns", "cores", "rate"),
    Metric("domain", "throttled", HELD_BACK, "share", "share"),
    Metric("domain", "memory", "memory", "B", "level"),
    Metric("domain", "major faults", _rate("major_faults"), "/s", "rate"),
    Metric("process", "running", "run_ns / dt_ns", "cores", "rate", where="thread IS NULL"),
    Metric("process", "runnable, waiting", "wait_ns / dt_ns", "", "rate", where="thread IS NULL"),
    Metric("process", "resident", "resident", "B", "level", where="thread IS NULL"),
    Metric("inside_cpu", "busy", "busy", "share", "share"),
    Metric("inside_cpu", "iowait", "iowait", "share", "share"),
    Metric("inside_cpu", "steal", "steal", "share", "share"),
    Metric("inside_memory", "used", "(total - available) / total", "share", "share"),
    Metric("inside_memory", "major faults", _rate("major_faults"), "/s", "rate"),
    Metric("inside_disk", "busy", "busy", "share", "share"),
    Metric("inside_disk", "queue length", "queue_length", "", "rate"),
)


def metric(table: str, name: str) -> Metric:
    """Return the metric of that table and name."""
    return next(each for each in METRICS if (each.table, each.name) == (table, name))
