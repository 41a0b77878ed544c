"""Which thread of a server do all its requests need?

Where each request has a thread to itself, none. Where the server works on all in turns it is the
one that ran most in the run. What nobody said of a server its threads may tell: a program that
works on all requests in turns does so in its main thread, which does most of its work then.
"""

from collections.abc import Mapping

from tierlab.analysis.query import Connection
from tierlab.tables.manifest import ServerPart

Thread = tuple[int, int]
"""The numbers of a process and of its thread."""


def busiest_threads(db: Connection, servers: Mapping[str, ServerPart]) -> dict[str, Thread]:
    """Return it by server, of those that have one."""
    found = db.execute(
        """WITH threads AS (
            SELECT subject, process, thread, coalesce(sum(run_ns), 0) AS ran
            FROM process WHERE thread IS NOT NULL GROUP BY ALL
        ) SELECT subject, process, thread,
            thread = process AND 2 * ran > sum(ran) OVER (PARTITION BY subject) AS does_most
        FROM threads ORDER BY ran, process, thread"""
    ).fetchall()
    busiest = {subject: (process, thread, most) for subject, process, thread, most in found}
    return {
        name: (process, thread)
        for name, (process, thread, does_most) in busiest.items()
        if name in servers and _serves_all(servers[name], does_most=does_most)
    }


def _serves_all(part: ServerPart, *, does_most: bool) -> bool:
    """Say whether a server's busiest thread works on all its requests. A database has a thread or a
    process for each connection, and one of them may well do most.
    """
    if part.worker_threads is None:
        return does_most and not part.speaks_sql
    return not part.worker_threads
