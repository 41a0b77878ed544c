"""What does a request take when it waits for nobody? By page, from the run itself.

As a rule it is what one in twenty of a page's requests did not exceed. Where a run is overloaded
from its ramp-up on, fewer than that were served at once, and long is what is usual: then it is what
they took in the quickest second, over all pages.
"""

from tierlab.analysis.requests.responses import FAILED

QUICK = 0.05
"""The share of a page's requests that were served without waiting."""

FEWEST = 30
"""The median of fewer requests in a second depends on which they were."""


def no_load_times(asked: str, where: str = "true") -> str:
    """Return a table in SQL of the requests of ``asked``: by ``interaction`` their ``count`` and
    the time in nanoseconds, ``quick_ns``. Those that failed are left out.
    """
    return f"""(WITH good AS (
            SELECT interaction, end_ns // 1000000000 AS second, end_ns - intended_ns AS took_ns
            FROM {asked} WHERE NOT {FAILED} AND {where}
        ), usual AS (
            SELECT interaction, count(*) AS count, quantile_cont(took_ns, {QUICK}) AS quick_ns,
                greatest(median(took_ns), 1) AS usual_ns
            FROM good GROUP BY interaction
        ), seconds AS (
            SELECT median(took_ns / usual_ns) AS times FROM good JOIN usual USING (interaction)
            GROUP BY second HAVING count(*) >= {FEWEST}
        ) SELECT interaction, count,
            least(quick_ns, usual_ns * coalesce((SELECT min(times) FROM seconds), 1)) AS quick_ns
        FROM usual)"""
