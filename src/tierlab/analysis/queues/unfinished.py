"""Until when does a visit that was never seen to leave stand in its server's queue?"""

from tierlab.analysis.query import Connection, bounds
from tierlab.analysis.span import Span


def hold_unfinished(db: Connection, whole: Span) -> None:
    """Create the table ``held`` (server, arrival_ns, since_ns, until_ns, unanswered_ns) of the
    visits without a departure.

    Such a visit stands in the queue until its connection was over, or is used again, as one serves
    one request at a time, else until the capture's end, which is the trial's: so a frozen server
    shows its queue. One that arrived before the trial was a check whether the server is ready,
    whose asker left; it is not there. Nor is one whose client would still have waited; of others
    ``since_ns`` is when that was over, or the arrival. ``unanswered_ns`` is until when nobody had
    been answered on its connection: over or not, its request was not served.
    """
    db.execute(
        """CREATE OR REPLACE TEMP TABLE held AS
        WITH unfinished AS (
            SELECT server, connection, arrival_ns, reply_start_ns, closed_ns, may_wait_ns
            FROM visits
            WHERE departure_ns IS NULL AND arrival_ns BETWEEN $start AND $end - 1
        ), used AS (
            SELECT server, connection, arrival_ns FROM visits
            SEMI JOIN unfinished USING (server, connection)
        ), ended AS (
            SELECT unfinished.*, coalesce(used.arrival_ns, $end) AS unanswered_ns,
                least(closed_ns, unanswered_ns) AS until_ns
            FROM unfinished ASOF LEFT JOIN used ON unfinished.server = used.server
                AND unfinished.connection = used.connection
                AND unfinished.arrival_ns < used.arrival_ns
        ) SELECT server, arrival_ns, arrival_ns + CASE WHEN may_wait_ns IS NULL THEN 0
            ELSE least(may_wait_ns, coalesce(reply_start_ns, until_ns) - arrival_ns) END
            AS since_ns, until_ns, unanswered_ns
        FROM ended WHERE may_wait_ns IS NULL OR since_ns < until_ns""",
        bounds(whole),
    )
