"""What a hypervisor counted of its domains' disks, as rows of the table `hypervisor_disk`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from tierlab.environments.accounts import Rows

COLUMNS = ("reads", "writes", "bytes_read", "bytes_written", "read_time_ns", "write_time_ns")


@dataclass(frozen=True)
class DiskCounters:
    """What requests to one disk have come to since it was made, those that ended."""

    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    read_time_ns: int
    """Summed over the requests, queueing included."""
    write_time_ns: int

    def since(self, before: DiskCounters) -> DiskCounters:
        """What has come to them."""
        pairs = zip(astuple(self), astuple(before), strict=True)
        return DiskCounters(*(now - then for now, then in pairs))


def rows(looks: Iterable[tuple[int, str, DiskCounters]]) -> Rows:
    """Each disk at each look but its first; a look is its time, the disk's name, and the counters.

    By Little's law the mean number in flight is the requests' summed time per time. Counters that
    went back are those of a domain made anew: they begin again.
    """
    found: Rows = []
    before: dict[str, tuple[int, DiskCounters]] = {}
    for t_ns, subject, counters in looks:
        if subject in before:
            since_ns, earlier = before[subject]
            more, dt_ns = counters.since(earlier), t_ns - since_ns
            if dt_ns > 0 and min(astuple(more)) >= 0:
                found.append(
                    {"t_ns": t_ns, "dt_ns": dt_ns, "subject": subject}
                    | dict(zip(COLUMNS, astuple(more), strict=True))
                    | {"queue_length": (more.read_time_ns + more.write_time_ns) / dt_ns}
                )
        before[subject] = t_ns, counters
    return found
