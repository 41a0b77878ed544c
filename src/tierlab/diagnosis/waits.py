"""What the users' own records say: waits for a connection, and slow responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tierlab.analysis.query import Connection, bounds, columns
from tierlab.analysis.queues.own_gaps import Gaps
from tierlab.analysis.span import Span
from tierlab.diagnosis.stalls import USERS, users_of

_ATTEMPT_NS = 5_000_000
"""A connection's first SYN leaves so soon after its request starts."""

_KEPT = """first_byte_ns IS NOT NULL OR coalesce(error, '') IN
            ('request_timeout', 'transmit_timeout', 'reset', 'no_reply')"""
"""Of requests for which none was opened: that their connection stood already, as SQL."""

_CONNECTING = f"""WITH again AS (
        SELECT min(t_ns - since_ns) AS first_ns, max(t_ns) AS last_ns FROM (
            SELECT subject, t_ns, TRY_CAST(said ->> 'connection' AS BIGINT) AS connection,
                TRY_CAST(said ->> 'since_first_ns' AS BIGINT) AS since_ns
            FROM (SELECT *, CASE WHEN json_valid(detail) THEN detail END AS said FROM events
                WHERE kind = 'syn_retransmission'))
        WHERE connection IS NOT NULL AND since_ns IS NOT NULL GROUP BY subject, connection
    ), waited AS (
        SELECT start_ns, coalesce(connected_ns, end_ns) AS end_ns FROM requests
        WHERE start_ns BETWEEN $start AND $end - 1 AND ({{of}})
        AND coalesce(connected_ns, end_ns) - start_ns >= $least
        AND (connected_ns IS NOT NULL OR NOT ({_KEPT}))
    ), since AS (
        SELECT if(first_ns - start_ns < {{attempt}} AND last_ns <= end_ns, last_ns, start_ns)
            AS start_ns, waited.start_ns AS asked_ns, end_ns
        FROM waited ASOF LEFT JOIN again ON waited.start_ns <= again.first_ns
    ) SELECT coalesce(start_ns, asked_ns) AS start_ns, end_ns, '' AS label, NULL::DOUBLE AS usual
    FROM since
    WHERE end_ns - coalesce(start_ns, asked_ns) >= $least ORDER BY 1"""

_RESPONDING = """SELECT intended_ns AS start_ns, end_ns, interaction AS label, usual
    FROM {asked} JOIN (
        SELECT interaction, median(end_ns - intended_ns) AS usual FROM {asked}
        GROUP BY interaction HAVING count(*) >= 20) USING (interaction)
    WHERE intended_ns BETWEEN $start AND $end - 1 AND end_ns - intended_ns >= $least
    ORDER BY intended_ns"""


@dataclass(frozen=True)
class Way:
    """From a system's users to a first server: of ``count`` that it has the one at ``place``."""

    entry: str
    system: str | None
    place: int = 0
    count: int = 1


def ways(entries: Sequence[str], system_of: Mapping[str, str | None]) -> list[Way]:
    """Return the ways to all first servers. A system's users take turns among its own, by their
    numbers.
    """
    found = []
    for entry in entries:
        system = system_of[entry]
        beside = [each for each in entries if system_of[each] == system]
        found.append(Way(entry, system, beside.index(entry), len(beside)))
    return found


def connecting(db: Connection, span: Span, least_ns: int, way: Way) -> Gaps:
    """Return the long waits of a first server's users for a connection to it.

    A wait begins with the last SYN: one that was dropped waits for the kernel's timer, seconds
    after the server has gone on, and would hide what stalled for less (RFC 6298).
    """
    asked: dict[str, object] = {**bounds(span), "least": least_ns}
    of = "true"
    if way.system is not None:  # older folders' requests have no such column
        of, asked["system"] = "system = $system", way.system
    if way.count > 1:
        of += " AND user % $count = $place"
        asked |= {"count": way.count, "place": way.place}
    return _gaps(
        columns(db, _CONNECTING.format(of=of, attempt=_ATTEMPT_NS), asked),
        users_of(way.entry),
        way.entry,
    )


def responding(db: Connection, span: Span, least_ns: int, asked: str) -> Gaps:
    """Return the users' long waits for a reply: all there is where messages were not captured.
    ``asked`` are their requests, as a table in SQL.
    """
    found = columns(db, _RESPONDING.format(asked=asked), {**bounds(span), "least": least_ns})
    return _gaps(found, USERS, "")


def _gaps(found: dict[str, Any], users: str, callee: str) -> Gaps:
    count = len(found["start_ns"])
    return Gaps(
        server=np.full(count, users, object),
        label=np.asarray(found["label"], object),
        start_ns=found["start_ns"].astype(np.int64),
        end_ns=found["end_ns"].astype(np.int64),
        callee=np.full(count, callee, object),
        usual_ns=found["usual"].astype(np.float64),
    )
