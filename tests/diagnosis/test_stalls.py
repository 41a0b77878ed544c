"""Unusual gaps that overlap are one stall, and what piles up behind it another."""

from __future__ import annotations

import numpy as np

from tierlab.analysis.queues.own_gaps import Gaps
from tierlab.diagnosis.stalls import stalls

from .made_stall import MS


def gaps(start_ms, end_ms, callee=""):
    count = len(start_ms)
    return Gaps(
        server=np.full(count, "app.1", object),
        label=np.full(count, "GET /page", object),
        start_ns=np.asarray(start_ms, np.int64) * MS,
        end_ns=np.asarray(end_ms, np.int64) * MS,
        callee=np.full(count, callee, object),
        usual_ns=np.full(count, 5.0 * MS),
    )


def windows(start_ms, end_ms):
    found = stalls(gaps(start_ms, end_ms))
    return [(each.window.start_ns // MS, each.core.end_ns // MS, each.waiting) for each in found]


def test_what_was_held_and_what_piled_up_behind_it_are_two():
    """A pool was held for 250 ms near capacity; who came later waited for 400 to 760 ms, and all
    was one stall, that began when the pool was free again.
    """
    held = np.arange(0, 250, 5)
    later = np.arange(250, 1_250, 5)
    found = windows(
        [*held, *later], [*(held * 0 + 260), *(later + 400 + (later - 250) * 36 // 100)]
    )
    assert [each[2] for each in found] == [np.count_nonzero(260 - held >= 20), later.size]
    assert found[0][:2] == (0, 260)
    assert found[1][0] == 250


def test_all_who_wait_for_a_stopped_server_are_one():
    came = np.arange(0, 400, 5)
    assert windows(came, came * 0 + 410) == [(0, 410, len([t for t in came if 410 - t >= 20]))]


def test_waits_that_grow_at_once_are_one():
    """Those half as long began less than a tenth of a second before."""
    came = np.arange(0, 600, 5)
    found = windows(came, came + np.minimum(300, 20 + came * 4))
    assert len(found) == 1


def test_who_comes_when_the_first_go_on_does_not_say_whom_those_waited_for():
    """Replies to the web server were held for 1.6 s. The 7 in progress waited for that; 378 that
    came then waited for one of 32 workers, which asks the database first, and that was told of as
    reached late.
    """
    held, later = gaps([0] * 7, [1600] * 7), gaps([1590] * 378, [1990] * 378, "db.1")
    together = {
        name: np.concatenate([getattr(held, name), getattr(later, name)])
        for name in held.__dataclass_fields__
    }
    (found,) = stalls(Gaps(**together))
    assert found.waiting == 385
    assert found.toward["db.1"] == 378 * 10 / (378 * 10 + 7 * 1600)
