"""From when on is a visit the server's to serve?

A client may ask to wait: a blocking command of Redis' (BLPOP on an empty list) is answered once
there is something for it, or its timeout is over. That long it stands at the server by its client's
wish, as a user who thinks: it is in no queue, and no server is slow for it. What is left of the
visit is the server's. Nothing on the wire tells when there was something to answer with, so all of
the time before the reply counts as waited for, up to the timeout.
"""

SERVED_FROM_NS = """(CASE WHEN may_wait_ns IS NULL THEN arrival_ns ELSE arrival_ns + least(
    may_wait_ns, greatest(coalesce(reply_start_ns, departure_ns)
        - greatest(arrival_ns, request_end_ns), 0)) END)"""
"""The SQL of a visit that left: its arrival, later by as long as it waited by its client's wish."""

STAY_NS = f"(departure_ns - {SERVED_FROM_NS})"
"""The SQL of how long such a visit was the server's."""
