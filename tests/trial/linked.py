"""Whether the visits of a trial are linked."""

from __future__ import annotations

from tests.figures import figure
from tierlab.tables.run import Run


def check_links(run: Run) -> None:
    """Of what belongs to a request: no login, and nothing before the first user came."""
    with run.connect() as db:
        of_requests = db.execute(
            """SELECT server, count(*), count(parent) FROM visits
            WHERE server NOT LIKE '%web.%' AND label != 'LOGIN'
            AND arrival_ns >= (SELECT min(start_ns) FROM requests) GROUP BY 1"""
        ).fetchall()
    assert of_requests
    for server, visits, linked in of_requests:
        figure(f"{server}: {linked} of {visits} visits linked")
        assert linked >= 0.99 * visits, server
    pairs = run.manifest.observation.summaries["link"]["pairs"]
    assert all(pair["by_id"] + pair["by_thread"] > 0 for pair in pairs)
