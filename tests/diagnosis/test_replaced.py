"""A restart is known by the processes that went and came, though requests miss them later."""

from __future__ import annotations

import pytest

from . import made_stall
from .made_stall import MS, STALL
from .signatures import diagnosed, idle, processes


@pytest.mark.parametrize(("before_ms", "cause"), [(1_300, "restart"), (6_000, "pool")])
def test_requests_wait_a_second_after_the_processes_ended(tmp_path, before_ms, cause):
    """Six restarts in a row took 1.4 s, requests waited from 0.7 s on: that was called a pool."""
    end = made_stall.START + made_stall.LENGTH
    lives = dict.fromkeys(range(1, 5), (0, STALL[0] - before_ms * MS))
    lives |= {number + 10: (STALL[1] - before_ms * MS, end) for number in range(1, 5)}
    samples = {
        "listen": [{"subject": "web.1", "accept_queue": 14}],
        "domain": idle("web.1", threads_stopped=0),
    }
    run = made_stall.make(tmp_path, "web.1", samples, {"process": processes(lives)})
    assert [(each.cause, each.subject) for each in diagnosed(run).findings] == [(cause, "web.1")]


def test_a_manager_may_start_those_that_come_one_by_one(tmp_path):
    """httpd was reloaded and had one process after a second, and four after five: that was called a
    pool, three times of four.
    """
    end = made_stall.START + made_stall.LENGTH
    lives = {1: (0, end)} | dict.fromkeys(range(2, 6), (0, STALL[0]))
    after_s = {12: 1, 13: 3, 14: 4, 15: 4}
    lives |= {number: (STALL[1] + after_s[number] * 1000 * MS, end) for number in after_s}
    samples = {"listen": [{"subject": "web.1", "accept_queue": 14}]}
    run = made_stall.make(tmp_path, "web.1", samples, {"process": processes(lives)})
    assert [each.cause for each in diagnosed(run).findings] == ["restart"]


def test_processes_that_end_with_their_callers_connections_are_no_restart(tmp_path):
    """PHP-FPM was reloaded, and PostgreSQL's processes, one for each connection, ended with its."""
    end = made_stall.START + made_stall.LENGTH
    lives = dict.fromkeys(range(1, 5), (0, STALL[0]))
    lives |= {number + 10: (STALL[1], end) for number in range(1, 5)}
    callers = processes(lives)
    callees = [row | {"subject": "app.1", "process": row["process"] + 100} for row in callers]
    run = made_stall.make(tmp_path / "alone", "app.1", None, {"process": callees})
    assert [(each.cause, each.subject) for each in diagnosed(run).findings] == [
        ("restart", "app.1")
    ]
    run = made_stall.make(tmp_path / "both", "app.1", None, {"process": callers + callees})
    assert "restart" not in [each.cause for each in diagnosed(run).findings]
