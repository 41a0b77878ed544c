"""How many visits were in progress at any instant? Each server's arrivals and departures, in order.

The number at ``t`` is the arrivals up to ``t`` less the departures up to ``t``: a request is
at a tier from its packet's arrival until its response is returned (J. Park, "Performance
Scalability of N-Tier Application in Virtualized Cloud Environments", PhD thesis, Georgia Institute
of Technology, 2016, section 4.3). So two sorted arrays answer for any instant and any window
without a step per visit.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.query import Connection, Floats, Ints, bounds, columns
from tierlab.analysis.served_from import SERVED_FROM_NS
from tierlab.analysis.span import Span


@dataclass(frozen=True)
class InProgress:
    """One server's ``arrival_ns`` and ``departure_ns``, each sorted, equally many. A visit that its
    client let wait arrives when that was over (:mod:`tierlab.analysis.served_from`).

    A visit that was never seen to leave departs when
    :mod:`tierlab.analysis.queues.unfinished` says.
    """

    arrival_ns: Ints
    departure_ns: Ints

    def at(self, t_ns: Ints) -> Ints:
        """Return the number in progress at each instant."""
        arrived = np.searchsorted(self.arrival_ns, t_ns, side="right")
        left = np.searchsorted(self.departure_ns, t_ns, side="right")
        return np.asarray(arrived - left, dtype=np.int64)

    def mean(self, edge_ns: Ints) -> Floats:
        """Return the time-weighted mean number between each edge and the next, exactly."""
        held = _integral(self.arrival_ns, edge_ns) - _integral(self.departure_ns, edge_ns)
        return np.asarray(np.diff(held) / np.diff(edge_ns), dtype=np.float64)

    def arrivals(self, edge_ns: Ints) -> Ints:
        """Count the arrivals from each edge up to the next."""
        return np.diff(np.searchsorted(self.arrival_ns, edge_ns))

    def departures(self, edge_ns: Ints) -> Ints:
        """Count the departures from each edge up to the next."""
        return np.diff(np.searchsorted(self.departure_ns, edge_ns))

    def steps(self, start_ns: int, end_ns: int) -> tuple[Ints, Ints]:
        """Return the instants from ``start_ns`` up to ``end_ns`` at which the number changed, and
        the number from each on. The first is ``start_ns`` itself.
        """
        came = _within(self.arrival_ns, start_ns, end_ns)
        left = _within(self.departure_ns, start_ns, end_ns)
        t_ns = np.sort(np.concatenate([np.array([start_ns]), came, left]), kind="stable")
        t_ns = t_ns[np.append(True, t_ns[1:] != t_ns[:-1])]
        return t_ns, self.at(t_ns)


def _within(times: Ints, start_ns: int, end_ns: int) -> Ints:
    first, last = np.searchsorted(times, [start_ns, end_ns])
    return times[first:last]


def _integral(times: Ints, edge_ns: Ints) -> Ints:
    """Return the sum, over the ``times`` before each edge, of how long they were before it but
    after the first edge, in nanoseconds. Only the times between the edges are touched.

    Sums of millions of times pass 64 bits and wrap around, and so does what is subtracted from
    them: the differences of neighbouring edges, which are all that is used, are exact.
    """
    first, last = np.searchsorted(times, [edge_ns[0], edge_ns[-1]])
    since = times[first:last] - edge_ns[0]
    width = edge_ns - edge_ns[0]
    before = np.searchsorted(since, width, side="right")
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(since)])
    return np.asarray((first + before) * width - sums[before], dtype=np.int64)


def visits_in_progress(db: Connection, span: Span) -> dict[str, InProgress]:
    """Return every server's arrivals and departures that touch the span; empty without visits.

    Servers are told apart by number: names would be copied once a visit. They are sorted side by
    side: NumPy lets other threads run meanwhile.
    """
    names = [str(name) for name in columns(db, "SELECT DISTINCT server FROM visits", {})["server"]]
    found = columns(
        db,
        f"""SELECT list_position($names::VARCHAR[], server)::UTINYINT AS server, arrival_ns, end_ns
            FROM (SELECT server, {SERVED_FROM_NS} AS arrival_ns, departure_ns AS end_ns FROM visits
                    WHERE departure_ns IS NOT NULL
                UNION ALL SELECT server, since_ns, until_ns FROM held)
            WHERE arrival_ns < $end AND end_ns > $start""",
        {**bounds(span), "names": names},
    )
    server, arrival_ns, end_ns = found["server"], found["arrival_ns"], found["end_ns"]

    def sort(name: str) -> InProgress:
        mine = server == names.index(name) + 1
        arrival = arrival_ns[mine]
        end = np.maximum(end_ns[mine], arrival)
        arrival.sort()
        end.sort()
        return InProgress(arrival, end)

    with ThreadPoolExecutor() as threads:
        sorted_ = dict(zip(sorted(names), threads.map(sort, sorted(names)), strict=True))
    return {name: each for name, each in sorted_.items() if each.arrival_ns.size}
