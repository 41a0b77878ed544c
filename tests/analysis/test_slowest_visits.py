"""The slowest requests' visits on an axis of their own: whole, in order, clipped to the reply."""

from __future__ import annotations

import pytest

from tierlab.analysis.queues.slowest_visits import REQUESTS, VISITS, slowest_visits
from tierlab.analysis.queues.waits import PARTS

MS = 1_000_000


def visit(number, server, arrival_ms, departure_ms, parent=None, **parts):
    spent = {f"{name}_ns": parts.get(name, 0) * MS for name in PARTS} if parts else {}
    times = {"arrival_ns": arrival_ms * MS, "departure_ns": departure_ms * MS}
    link = {} if parent is None else {"parent": parent, "link": "thread", "confidence": 1.0}
    return {"visit": number, "server": server, "label": f"v{number}", **times, **link, **spent}


def found(tiny, visits, entries=("web.1",)):
    observed = tiny({"visits": visits}, seconds=10.0)
    return slowest_visits(observed.db, observed.measured, entries)


def test_a_request_has_all_visits_below_it_with_their_parts(tiny):
    visits = [
        visit(1, "web.1", 100, 200, cpu=10, calls=90),
        visit(2, "app.1", 110, 190, parent=1, cpu=40, lock=20, calls=20),
        visit(3, "db.1", 150, 170, parent=2),
        visit(4, "db.1", 120, 125, parent=2, cpu=5),
        visit(5, "app.1", 100, 900),  # linked to nobody: users do not call app.1
    ]

    (slow,) = found(tiny, visits)

    assert (slow.arrival_ns, slow.took_s, slow.left_out) == (100 * MS, 0.1, 0)
    seen = [(each.server, each.depth, each.from_s, each.to_s) for each in slow.visits]
    assert seen == [
        ("web.1", 0, 0.0, 0.1),
        ("app.1", 1, pytest.approx(0.01), pytest.approx(0.09)),
        ("db.1", 2, pytest.approx(0.02), pytest.approx(0.025)),
        ("db.1", 2, pytest.approx(0.05), pytest.approx(0.07)),
    ]
    parts = {each.name: each.share for each in slow.visits[1].parts if each.share}
    assert parts == {"cpu": 0.5, "lock": 0.25, "calls": 0.25}
    assert slow.visits[3].parts == []


def test_what_goes_on_after_the_reply_is_clipped_to_it(tiny):
    visits = [
        visit(1, "web.1", 100, 200),
        visit(2, "db.1", 150, 400, parent=1),
        visit(3, "db.1", 250, 300, parent=1),
    ]

    (slow,) = found(tiny, visits)

    seen = [(each.from_s, each.to_s, each.took_s) for each in slow.visits[1:]]
    assert seen == [(0.05, 0.1, 0.25), (0.1, 0.1, 0.05)]


def test_the_slowest_requests_come_first_and_the_shortest_visits_are_left_out(tiny):
    roots = [visit(n, "web.1", 1_000 * n, 1_000 * n + 10 * n) for n in range(1, 6)]
    calls = [visit(100 + n, "db.1", 5_001 + n, 5_002 + 2 * n, parent=5) for n in range(20)]

    slow = found(tiny, roots + calls)

    assert [each.took_s for each in slow] == [0.05, 0.04, 0.03][:REQUESTS]
    assert len(slow[0].visits) == VISITS
    assert slow[0].left_out == 20 - (VISITS - 1)
    assert min(each.took_s for each in slow[0].visits[1:]) == pytest.approx(0.007)
    assert [each.from_s for each in slow[0].visits] == sorted(e.from_s for e in slow[0].visits)


def test_links_that_lead_back_end(tiny):
    visits = [visit(1, "web.1", 100, 200, parent=2), visit(2, "app.1", 110, 190, parent=1)]

    (slow,) = found(tiny, visits)

    assert [each.server for each in slow.visits] == ["web.1", "app.1"]
