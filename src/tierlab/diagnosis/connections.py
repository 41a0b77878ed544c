"""On how many connections did a server have visits?"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Ints, columns
from tierlab.diagnosis.finding import Window


@dataclass(frozen=True)
class Connections:
    """A server's visits: when they came and left (ns), and the number of their connection."""

    arrival_ns: Ints
    departure_ns: Ints
    connection: Ints

    def used(self, window: Window) -> int:
        """Count those with a visit within the window."""
        inside = (self.arrival_ns < window.end_ns) & (self.departure_ns > window.start_ns)
        return int(np.unique(self.connection[inside]).size)


def connections(observed: Observed, server: str) -> Connections | None:
    """Read them; None where messages were not captured. A visit that never left stays."""
    if not observed.run.has("visits"):
        return None
    found = columns(
        observed.db,
        f"""SELECT arrival_ns, coalesce(departure_ns, {np.iinfo(np.int64).max}) AS departure_ns,
            connection FROM visits WHERE server = $server""",
        {"server": server},
    )
    return Connections(*(found[name].astype(np.int64) for name in found))
