"""On how many connections did a server have visits?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Ints, columns
from tierlab.diagnosis.finding import Window


@dataclass(frozen=True)
class Connections:
    """A server's visits in the order in which they came: when they came and left (ns), and the
    number of their connection.
    """

    arrival_ns: Ints
    departure_ns: Ints
    connection: Ints

    def used(self, window: Window) -> int:
        """Count those with a visit within the window."""
        # Before the first that was still there at its start all had left.
        first = int(np.searchsorted(self._all_left_ns, window.start_ns, side="right"))
        last = int(np.searchsorted(self.arrival_ns, window.end_ns))
        there = self.departure_ns[first:last] > window.start_ns
        return int(np.unique(self.connection[first:last][there]).size)

    @cached_property
    def _all_left_ns(self) -> Ints:
        """When each visit and all that came before it had left."""
        return np.maximum.accumulate(self.departure_ns)


def connections(observed: Observed, server: str) -> Connections:
    """Read them from the captured messages. A visit that never left stays until its connection is
    over.
    """
    found = columns(
        observed.db,
        f"""SELECT arrival_ns, connection,
            coalesce(departure_ns, closed_ns, {np.iinfo(np.int64).max}) AS departure_ns
            FROM visits WHERE server = $server ORDER BY arrival_ns""",
        {"server": server},
    )
    order = ("arrival_ns", "departure_ns", "connection")
    return Connections(*(found[name].astype(np.int64) for name in order))
