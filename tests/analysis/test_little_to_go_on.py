"""Every question put to runs that hold little or nonsense: a result or none, never a traceback."""

from __future__ import annotations

from typing import Any

import made_run
import numpy as np
import pytest

from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.congestion_point import congestion_points
from tierlab.analysis.queues.queue_episodes import queue_episodes
from tierlab.analysis.queues.work_units import work_done
from tierlab.analysis.requests.dropped import retransmitted, waiters
from tierlab.analysis.requests.explain_request import explain
from tierlab.analysis.requests.modes import modes
from tierlab.analysis.requests.slow_requests import clusters, slow_requests
from tierlab.analysis.requests.two_modes import two_modes
from tierlab.analysis.resources.alternating import alternations
from tierlab.analysis.resources.saturation import saturations
from tierlab.analysis.resources.utilisation import utilisations
from tierlab.analysis.span import WINDOW_NS
from tierlab.analysis.statistics.association import associations, indicator

from .conftest import Tiny
from .simulated_queues import MS, SECOND


def ask_everything(observed: Observed) -> None:
    db, manifest, whole = observed.db, observed.run.manifest, observed.whole
    assert whole is not None
    progress = dict(observed.in_progress)
    episodes = queue_episodes(progress, whole)
    assert all(each.end_ns > each.onset_ns for each in episodes)
    assert all(each.end_ns >= each.start_ns for each in saturations(db, manifest, whole, progress))
    slow = slow_requests(db, whole, modes(db, whole))
    if slow is not None:
        clusters(slow.delayed)
    waiters(db, retransmitted(db, whole))
    explain(db, whole, ["web.1"], 0.5)
    two_modes(db, whole)
    count = whole.duration_ns // WINDOW_NS
    edge_ns = whole.start_ns + WINDOW_NS * np.arange(count + 1)
    load = {name: each.mean(edge_ns) for name, each in progress.items()} if count else {}
    congestion_points(work_done(db, whole, load))
    shares = utilisations(db, manifest, whole)
    alternations(shares)
    associations(shares, indicator([(e.onset_ns, e.end_ns) for e in episodes], edge_ns))


TICKS = [{"t_ns": 50 * MS * n, "dt_ns": 50 * MS, "subject": "cpu0"} for n in range(1, 20)]
VISIT = {"server": "web.1", "connection": 1, "label": "GET /"}
REQUEST = {"interaction": "Browse", "status": 200}
CASES: dict[str, dict[str, list[dict[str, Any]]]] = {
    "nothing": {},
    "tables without rows": {name: [] for name in ("requests", "visits", "events", "cpu", "soft")},
    "one request": {"requests": [{**REQUEST, "intended_ns": 5, "end_ns": 9 * MS}]},
    "one visit": {"visits": [{**VISIT, "arrival_ns": 5, "departure_ns": 9 * MS}]},
    "a visit that never left": {"visits": [{**VISIT, "arrival_ns": 5, "departure_ns": None}]},
    "a clock set back": {
        "visits": [{**VISIT, "arrival_ns": 700 * MS, "departure_ns": 300 * MS}],
        "requests": [
            {**REQUEST, "intended_ns": 800 * MS, "start_ns": 800 * MS, "end_ns": 200 * MS},
            {**REQUEST, "intended_ns": -2 * SECOND, "start_ns": 0, "end_ns": 200 * MS},
        ],
        "cpu": [{**each, "t_ns": each["t_ns"] % (400 * MS), "busy": 1.0} for each in TICKS],
    },
    "a clock that stands still": {"cpu": [{**each, "dt_ns": 0, "busy": 1.0} for each in TICKS]},
    "nothing but nulls": {
        "cpu": [{**each, "busy": None} for each in TICKS],
        "domain": TICKS,
        "soft": [{**each, "resource": "threads", "limit": None} for each in TICKS],
        "listen": [{**each, "accept_queue": 3, "backlog": 0} for each in TICKS],
    },
    "visits of the same instant": {
        "visits": [{**VISIT, "visit": n, "arrival_ns": 5, "departure_ns": 5} for n in range(99)]
    },
}


@pytest.mark.parametrize("case", CASES)
def test_little_to_go_on(tiny: Tiny, case: str) -> None:
    ask_everything(tiny(CASES[case]))
    ask_everything(tiny(CASES[case], servers=made_run.servers(), mapping={"db.1": None}))


@pytest.mark.parametrize("case", CASES)
def test_a_trial_shorter_than_a_window(tiny: Tiny, case: str) -> None:
    ask_everything(tiny(CASES[case], seconds=0.03))


def test_a_whole_run(made: Observed) -> None:
    ask_everything(made)
