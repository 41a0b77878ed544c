"""Which segments were captured on their way to a server, and were sent again nevertheless?

The capture stands somewhere on the way. What is lost before it is seen once, when it is sent again;
what is lost behind it, at the receiver's own end, is seen again and again.
"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import DETAIL, Ints, columns
from tierlab.diagnosis.finding import Window


@dataclass(frozen=True)
class SentAgain:
    """When data was captured again (ns, in order): of requests to a server and of the replies to
    it, and of all. Connection requests do not count: one is sent again a second later, and tells of
    that time.
    """

    to_it: Ints
    in_all: Ints


def sent_again(observed: Observed, server: str) -> SentAgain | None:
    """Return what was sent again; replies to a server are those of whom it calls, on connections
    from its address. None where messages were not captured or no events were kept.
    """
    run = observed.run
    if not (run.has("visits") and run.has("events")):
        return None
    found = columns(
        observed.db,
        f"""SELECT t_ns AS t, coalesce(
            (subject = $server AND (said ->> 'from') = 'client')
            OR (list_contains($callees::VARCHAR[], subject) AND (said ->> 'from') = 'server'
                AND (said ->> 'client') = $address), false) AS mine
        FROM (SELECT t_ns, subject, {DETAIL} AS said FROM events WHERE kind = 'retransmission')
        WHERE coalesce(TRY_CAST((said ->> 'captured_before') AS BOOLEAN), true) ORDER BY t""",
        {
            "server": server,
            "callees": run.manifest.topology.callees(server),
            "address": run.manifest.servers[server].address,
        },
    )
    t, mine = found["t"].astype(np.int64), found["mine"].astype(bool)
    return SentAgain(t[mine], t)


def within(times: Ints, window: Window) -> int:
    """Count those in the window."""
    first, last = np.searchsorted(times, [window.start_ns, window.end_ns])
    return int(last - first)
