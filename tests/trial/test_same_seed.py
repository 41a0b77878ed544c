"""The same seed asks for the same, in a whole trial as in the driver alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


def test_same_seed_same_sessions(
    tierlab: Start, experiment: Callable[..., Path], tmp_path: Path
) -> None:
    """Each user of a seed sends the same requests in the same order, whatever the timing: their
    ids are drawn from the seed as the pages are, which one server has only one of."""
    more = 'think = "200ms"\n[observe]\nsamplers = "none"\nmessages = false\n'
    pages = []
    for number in ("001", "002"):
        file = experiment(run=1, up=0, down=0, one_server=True, more=more)
        ended = tierlab("run", file).end()
        assert ended.status == 0, ended.stderr
        with api.open(tmp_path / "runs" / "t" / number).connect() as db:
            rows = db.execute(
                'SELECT "user", list(request_id ORDER BY start_ns) FROM requests GROUP BY 1'
            ).fetchall()
        pages.append(dict(rows))
    first, second = pages
    everybody = [each for asked in first.values() for each in asked]
    assert len(set(everybody)) == len(everybody) > len(first)
    assert set(first) == set(second)
    for user, asked in first.items():
        both = min(len(asked), len(second[user]))
        assert asked[:both] == second[user][:both]
