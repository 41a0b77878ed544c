"""Did more users come than could be served at once? By how many of them waited, and nothing else.

How many users are too many depends on what the machine gives that day: a trial of 1.2 times a
capacity that was measured on a slower one is no overload, and "nothing abnormal" is right. By the
response time law (P. Denning and J. Buzen, "The Operational Analysis of Queueing Network Models",
1978) of users who think for Z and wait for R a share R / (R + Z) waits: a twentieth of those who
think for 7 s is 0.37 s, a hundred times what they wait for in quiet times.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tierlab.analysis.observed import RUNTIME
from tierlab.analysis.query import columns
from tierlab.analysis.queues.in_progress import InProgress
from tierlab.analysis.statistics.stretches import stretches
from tierlab.tables.run import Run

WAITING = 0.05
LEAST_SECONDS = 2
"""What lasts for less is no overload that lasts, and a report need not say so first."""

SECOND_NS = 1_000_000_000


def was_beyond(folder: Path) -> bool:
    """Say whether a twentieth of the users waited at once for two seconds of the runtime; where
    the number of users is not known, that they did.
    """
    run = Run(folder)
    users, runtime = run.manifest.load.get("users"), run.manifest.phase(RUNTIME)
    if not users or runtime is None:
        return True
    edge_ns = np.arange(runtime.start_ns, runtime.end_ns + 1, SECOND_NS, dtype=np.int64)
    if edge_ns.size < 2:
        return False
    with run.connect() as db:
        found = columns(db, "SELECT intended_ns, end_ns FROM requests", {})
    waiting = InProgress(np.sort(found["intended_ns"]), np.sort(found["end_ns"])).mean(edge_ns)
    return any(b - a >= LEAST_SECONDS for a, b in stretches(waiting >= WAITING * users).tolist())
