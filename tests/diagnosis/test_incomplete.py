"""Requests that never came whole, slow senders, and bad requests that were answered."""

from __future__ import annotations

from . import made_stall
from .made_stall import MS, STALL
from .signatures import diagnosed, more_visits


def test_requests_that_never_came_whole_make_no_stall(tmp_path):
    """Two hundred of them held every worker: the proof took their connections' CPU for a cause."""
    folder = made_stall.make(tmp_path, None)
    more_visits(
        folder,
        [
            {"server": "app.1", "label": "GET /page", "status": 400, "protocol": "ajp13"}
            | {"arrival_ns": STALL[0] + n, "request_end_ns": STALL[0] + n}
            | {"departure_ns": None}
            for n in range(200)
        ],
    )
    assert diagnosed(folder).verdict == "nothing abnormal"


def test_a_stall_of_answered_bad_requests_is_seen(tmp_path):
    """An application answers 400 to what it does not like: those who waited for it waited."""
    folder = made_stall.make(tmp_path, None)
    more_visits(
        folder,
        [
            {"server": "app.1", "label": "GET /page", "status": 400, "protocol": "ajp13"}
            | {"arrival_ns": STALL[0] + n, "request_end_ns": STALL[0] + n}
            | {"departure_ns": STALL[1] + n}
            for n in range(20)
        ],
    )
    assert [each.subject for each in diagnosed(folder).findings] == ["app.1"]


def test_a_slow_sender_is_not_kept_waiting(tmp_path):
    folder = made_stall.make(tmp_path, None)
    more_visits(
        folder,
        [
            {"server": "web.1", "label": "GET /page", "status": 200, "protocol": "http"}
            | {"arrival_ns": STALL[0] + n, "request_end_ns": STALL[1] + n}
            | {"departure_ns": STALL[1] + n + MS}
            for n in range(20)
        ],
    )
    assert diagnosed(folder).verdict == "nothing abnormal"
