"""What a visit waits by its client's wish is no time of the server's: against figures by hand."""

import numpy as np
import pytest

from tierlab.analysis.calls import stays
from tierlab.analysis.queues.little import queue_checks
from tierlab.analysis.queues.own_gaps import own_gaps
from tierlab.analysis.queues.visit_time import visit_times
from tierlab.analysis.queues.visits import server_visits

MS = 1_000_000
FOREVER = 2**63 - 1


def visit(number, arrival_ms, reply_ms, may_wait_ns, label="BLPOP"):
    """A request that takes 1 ms to come, and a reply that takes 1 ms to leave."""
    answered = reply_ms is not None
    return {
        "visit": number,
        "server": "queue.1",
        "connection": number,
        "label": label,
        "arrival_ns": arrival_ms * MS,
        "request_end_ns": (arrival_ms + 1) * MS,
        "reply_start_ns": reply_ms * MS if answered else None,
        "departure_ns": (reply_ms + 1) * MS if answered else None,
        "may_wait_ns": may_wait_ns,
    }


WAITS = [
    visit(1, 100, 900, 1_100 * MS),  # something came for it: 2 ms are the server's
    visit(2, 100, 700, FOREVER),  # the same without an end
    visit(3, 200, 800, 200 * MS),  # answered 399 ms after it was over: 401 ms
    visit(4, 300, 304, None, "GET"),  # 5 ms
    visit(5, 400, None, FOREVER),  # still waiting at the end
    visit(6, 600, None, 300 * MS),  # not answered since 0.9 s: 100 ms until the end
]


def test_only_the_rest_is_the_servers(tiny):
    observed = tiny({"visits": WAITS})
    (found,) = server_visits(observed.db, observed.measured)
    own_ms = [2, 2, 401, 5]
    assert found.count == 4
    assert found.time.mean_s == pytest.approx(sum(own_ms) / 4 / 1e3)
    assert found.finished_mean == pytest.approx(sum(own_ms) / 1e3)
    assert (found.unfinished, found.held_mean) == (1, pytest.approx(0.1))
    assert [check.holds for check in queue_checks([found])] == [True]
    (own,) = stays(observed.db, observed.measured)
    assert own.total_ns == sum(own_ms) * MS


def test_who_waits_is_in_no_queue(tiny):
    observed = tiny({"visits": WAITS})
    progress = observed.in_progress["queue.1"]
    at_ms = [150, 302, 350, 500, 650, 750, 898, 950]
    assert progress.at(np.array(at_ms) * MS).tolist() == [0, 1, 0, 1, 1, 1, 0, 1]
    times = visit_times(observed.db, observed.measured).by_server["queue.1"]
    assert times[6] == pytest.approx(0.005)


def test_a_server_that_lets_who_asked_for_it_wait_has_no_gap(tiny):
    gaps = own_gaps(*_opened(tiny, WAITS), 20 * MS)
    assert (gaps.start_ns // MS).tolist() == [400, 900]
    assert (gaps.end_ns // MS).tolist() == [801, 1_000]
    unsaid = [each | {"may_wait_ns": None} for each in WAITS]
    assert own_gaps(*_opened(tiny, unsaid), 20 * MS).start_ns.size == 5


def test_in_a_folder_without_the_column_nobody_asked_to_wait(tiny, tmp_path):
    from pyarrow import parquet

    observed = tiny({"visits": WAITS})
    path = tmp_path / "visits.parquet"
    parquet.write_table(parquet.read_table(path).drop_columns(["may_wait_ns"]), path)
    db = observed.run.connect()
    (own,) = stays(db, observed.measured)
    assert own.total_ns == sum((801, 601, 601, 5)) * MS
    db.close()


def _opened(tiny, visits):
    observed = tiny({"visits": visits})
    return observed.db, observed.measured
