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
    it, and of all. One that asked the server for a connection and was captured before in vain asked
    first at ``asked_ns``, in order, and again at ``asked_again_ns``, a second later; all that asked
    other servers again did so at ``elsewhere_ns``, in order.
    """

    to_it: Ints
    in_all: Ints
    asked_ns: Ints
    asked_again_ns: Ints
    elsewhere_ns: Ints

    def data_to_it(self, window: Window) -> int:
        """Count the data to the server that was captured again in the window."""
        return int(_within(self.to_it, window).size)

    def data(self, window: Window) -> int:
        """Count all data that was captured again in the window."""
        return int(_within(self.in_all, window).size)

    def asked(self, window: Window) -> int:
        """Count who asked for a connection first in the window."""
        return int(_within(self.asked_ns, window).size)

    def asked_again_later(self, window: Window) -> int:
        """Count those of them who asked again when it was over."""
        first, last = np.searchsorted(self.asked_ns, [window.start_ns, window.end_ns])
        return int(np.count_nonzero(self.asked_again_ns[first:last] >= window.end_ns))

    def asked_elsewhere(self, window: Window) -> int:
        """Count the requests for a connection to other servers that were sent again in it."""
        return int(_within(self.elsewhere_ns, window).size)


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
    asked = columns(
        observed.db,
        f"""SELECT t_ns - since_ns AS first, t_ns AS again FROM (
            SELECT t_ns, TRY_CAST(({DETAIL} ->> 'since_first_ns') AS BIGINT) AS since_ns,
                TRY_CAST(({DETAIL} ->> 'attempt') AS BIGINT) AS attempt
            FROM events WHERE kind = 'syn_retransmission' AND subject = $server
        ) WHERE attempt = 1 AND since_ns IS NOT NULL ORDER BY first""",
        {"server": server},
    )
    elsewhere = columns(
        observed.db,
        """SELECT t_ns FROM events WHERE kind = 'syn_retransmission' AND subject <> $server
        ORDER BY t_ns""",
        {"server": server},
    )
    t, mine = found["t"].astype(np.int64), found["mine"].astype(bool)
    return SentAgain(
        to_it=t[mine],
        in_all=t,
        asked_ns=asked["first"].astype(np.int64),
        asked_again_ns=asked["again"].astype(np.int64),
        elsewhere_ns=elsewhere["t_ns"].astype(np.int64),
    )


def _within(times: Ints, window: Window) -> Ints:
    first, last = np.searchsorted(times, [window.start_ns, window.end_ns])
    return times[first:last]
