"""Which connection requests were dropped, how long did each wait, and who turned them away?

A full accept queue drops a SYN; the kernel sends it again after 1 s, then 2 s, 4 s ... (RFC 6298;
3 s first until Linux 3.1): a drop of a millisecond costs its user a second. Each
retransmission names its connection, so the visit that waited for it is known, not guessed.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tierlab.analysis.query import DETAIL, IN_SPAN, Connection, Ints, bounds, columns
from tierlab.analysis.span import Span

_MISSING = np.iinfo(np.int64).min


@dataclass(frozen=True)
class Retransmitted:
    """Connections whose SYN was sent again, one an element, by the time of the first SYN.

    ``last_ns`` is when it was sent for the last time and ``retransmissions`` how often again.
    """

    server: npt.NDArray[np.object_]
    connection: Ints
    first_ns: Ints
    last_ns: Ints
    retransmissions: Ints

    @property
    def waited_ns(self) -> Ints:
        """How long the connection request waited for its last retransmission."""
        return self.last_ns - self.first_ns

    @property
    def count(self) -> int:
        """How many connections."""
        return self.last_ns.size


def retransmitted(db: Connection, span: Span) -> Retransmitted:
    """Return the connections whose SYN was sent again within the span; empty without events."""
    found = columns(
        db,
        f"""WITH sent AS (
            SELECT subject, t_ns, TRY_CAST({DETAIL} ->> 'connection' AS BIGINT) AS connection,
                TRY_CAST({DETAIL} ->> 'since_first_ns' AS BIGINT) AS since_ns
            FROM events WHERE kind = 'syn_retransmission' AND t_ns {IN_SPAN}
        ) SELECT subject AS server, connection, min(t_ns - since_ns) AS first_ns,
            max(t_ns) AS last_ns, count(*) AS count
        FROM sent WHERE connection IS NOT NULL AND since_ns IS NOT NULL
        GROUP BY subject, connection ORDER BY first_ns""",
        bounds(span),
    )
    return Retransmitted(
        found["server"].astype(object),
        found["connection"],
        found["first_ns"],
        found["last_ns"],
        found["count"],
    )


@dataclass(frozen=True)
class Waiter:
    """Each retransmitted connection's visit: its ``visit`` number and arrival, ``found`` or not."""

    visit: Ints
    arrival_ns: Ints
    found: npt.NDArray[np.bool_]


def waiters(db: Connection, dropped: Retransmitted) -> Waiter:
    """Find the first visit on each of the connections: the one that waited for it."""
    if not dropped.count:
        none = np.zeros(0, dtype=np.int64)
        return Waiter(none, none, np.zeros(0, dtype=bool))
    visits = columns(
        db,
        """SELECT server, connection, arg_min(visit, arrival_ns) AS visit,
            min(arrival_ns) AS arrival_ns FROM visits
            WHERE list_contains($connections::BIGINT[], connection) GROUP BY server, connection""",
        {"connections": dropped.connection.tolist()},
    )
    keys = zip(visits["server"].tolist(), visits["connection"].tolist(), strict=True)
    by_connection = dict(
        zip(
            keys,
            zip(visits["visit"].tolist(), visits["arrival_ns"].tolist(), strict=True),
            strict=True,
        )
    )
    mine = [
        by_connection.get(key, (_MISSING, _MISSING))
        for key in zip(dropped.server.tolist(), dropped.connection.tolist(), strict=True)
    ]
    visit, arrival = (np.array(each, dtype=np.int64) for each in zip(*mine, strict=True))
    return Waiter(visit, arrival, visit != _MISSING)
