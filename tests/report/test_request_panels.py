"""The charts of queues: with a limit where there is one."""

from __future__ import annotations

import pytest

from tierlab.analysis.observed import observe
from tierlab.report.lines import Axis
from tierlab.report.request_panels import queues
from tierlab.tables.run import Run


@pytest.mark.parametrize(("kept", "limited"), [(None, True), (True, True), (False, False)])
def test_threads_are_a_queues_limit_only_where_they_are_workers(made, kept, limited):
    """Node.js has a few for files, and works on any number of requests at once."""
    run = Run(made.folder)
    part = run.manifest.servers["web.1"]
    part.worker_threads = kept
    observed = observe(run)
    try:
        found = queues(observed, Axis(observed.whole, []), made.summary)
    finally:
        observed.db.close()
    web = next(each for each in found if each.key == "queue-web")
    assert (f"it has {part.soft['threads']} threads" in web.about) == limited
