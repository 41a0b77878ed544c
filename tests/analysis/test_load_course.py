"""The load that was asked for beside the one that there was, from runs written row by row."""

from tierlab.analysis.requests.load_course import load_courses
from tierlab.analysis.span import Span

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
