"""The load that was asked for beside the one that there was, from runs written row by row."""

import pytest

from tierlab.analysis.requests.load_course import load_courses, mean_users
from tierlab.analysis.span import Span
from tierlab.analysis.summary import summarise

S = 10**9
CURVE = {"kind": "points", "curve": [[0, 2.0], [2 * S, 10.0]]}


def test_users_of_a_closed_loop_are_those_that_the_driver_counted(tiny):
    records = [
        {"t_ns": n * S, "duration_ns": S, "kind": "driver_lag", "subject": "driver",
         "detail": f'{{"users": {users}}}'}
        for n, users in enumerate((4, 9))
    ]  # fmt: skip
    load = {"users": 10, "shape": CURVE}
    observed = tiny({"events": records}, seconds=2, load=load)

    (found,) = load_courses(observed.db, Span(-S, 3 * S), observed.run.manifest)

    assert found.is_closed
    assert found.asked_ns.tolist() == [-S, 0, 2 * S, 3 * S]
    assert found.asked.tolist() == [0, 2, 10, 10]
    assert found.reached_ns.tolist() == [S, 2 * S]
    assert found.reached.tolist() == [4, 9]


def test_of_an_open_loop_the_requests_that_began_in_each_second_count(tiny):
    starts = [0, S // 2, S + 1, S + 2, S + 3, 2 * S + 1]
    rows = [{"intended_ns": at, "start_ns": at, "end_ns": at + 5 * S} for at in starts]
    load = {"rate": 10.0, "shape": CURVE}
    observed = tiny({"requests": rows}, seconds=2, load=load)

    (found,) = load_courses(observed.db, Span(0, 2 * S + S // 2), observed.run.manifest)

    assert not found.is_closed
    assert found.asked.tolist() == [2, 2, 10, 10]
    assert found.reached.tolist() == [2, 3]


def test_a_constant_load_has_no_course(tiny):
    observed = tiny({"requests": []}, load={"users": 10})
    assert load_courses(observed.db, Span(0, S), observed.run.manifest) == []


def counted(*users):
    """What the driver tells second by second of how many users are there."""
    return [
        {"t_ns": n * S, "duration_ns": S, "kind": "driver_lag", "subject": "driver",
         "detail": f'{{"users": {count}}}'}
        for n, count in enumerate(users)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "load", "expected"),
    [
        ([], {"users": 10}, {"": 10}),
        ([], {"rate": 5.0, "shape": CURVE}, {}),
        (counted(4, 9), {"users": 10, "shape": CURVE}, {"": 6.5}),
        ([], {"users": 10, "shape": CURVE}, {"": 6}),
    ],
    ids=["constant", "open", "counted", "by the shape"],
)
def test_the_mean_number_of_users_is_of_those_who_were_there(tiny, events, load, expected):
    observed = tiny({"events": events}, seconds=2, load=load)
    span = Span(0, 2 * S)
    assert mean_users(observed.db, span, span, observed.run.manifest) == expected


@pytest.mark.parametrize("several", [False, True])
def test_a_shaped_load_is_judged_by_its_mean_users(tiny, several):
    """Ten users at most, six on average, and two requests a second: three users for each."""
    name = "shop" if several else None
    rows = [
        {"user": 1, "interaction": "Home", "status": 200, "attempts": 1, "system": name}
        | {"intended_ns": at, "start_ns": at, "end_ns": at + S // 10}
        for at in (0, S // 2, S, S + S // 2)
    ]
    rules = {
        "operations": {"Home": {"share": 1.0, "limit_ns": S}},
        "checks": [],
        "most_users_per_rate": 4.0,
    }
    load = {"users": 10, "shape": CURVE}
    asked = {"load": load, "rules": rules}
    if several:
        asked = {"load": load, "systems": {name: asked | {"workload": "olio"}}}
    summary = summarise(tiny({"requests": rows}, seconds=2, **asked))
    verdict = summary.systems[0].rules if several else summary.rules
    (ratio,) = verdict.checks
    assert (ratio.value, ratio.passed) == (pytest.approx(3.0), True)


def test_a_system_s_shape_among_several_is_known_of_the_whole(tiny):
    """Little's law was checked with the most users that there could have been."""
    load = {"users": 10, "shape": None, "think_ns": S}
    parts = {
        "shop": {"workload": "olio", "load": load | {"users": 4}},
        "market": {"workload": "olio", "load": load | {"users": 6, "shape": CURVE}},
    }
    rows = [
        {"user": 1, "interaction": "Home", "status": 200, "attempts": 1, "system": "shop"}
        | {"intended_ns": at, "start_ns": at, "end_ns": at + S // 10}
        for at in (0, S // 2, S, S + S // 2)
    ]
    summary = summarise(tiny({"requests": rows}, seconds=2, load=load, systems=parts))
    assert summary.facts.shape == CURVE["kind"]
    assert [each.what for each in summary.checks if "users" in each.what] == []
