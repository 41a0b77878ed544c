"""What visits waited for, against figures worked out by hand and on a run with parts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import visit_parts
from tierlab.analysis.observed import observe
from tierlab.analysis.queues.loop_threads import STATES
from tierlab.analysis.queues.visits import server_visits
from tierlab.analysis.queues.waits import PARTS, server_waits
from tierlab.analysis.summary import summarise
from tierlab.tables.manifest import Call, ServerPart
from tierlab.tables.run import Run

MS = 1_000_000


def visit(number, server, took_ms, other_call=None, **parts):
    """A visit that left at 500 ms; where ``parts`` are named, all others are 0 ms."""
    spent = {}
    if parts:
        spent = {f"{name}_ns": 0 for name in PARTS}
        spent |= {
            f"{name}_ns": None if ms is None else round(ms * MS) for name, ms in parts.items()
        }
    times = {"arrival_ns": (500 - took_ms) * MS, "departure_ns": 500 * MS}
    return {"visit": number, "server": server, **times, "other_call": other_call, **spent}


def part(tier, **changes):
    known = {"server": "httpd", "address": "127.0.0.1", "port": 80, "protocol": "http1"}
    return ServerPart.model_validate({"tier": tier, **known, **changes}).model_dump()


def waits(observed):
    visits = server_visits(observed.db, observed.measured)
    found = server_waits(observed.db, observed.measured, visits, observed.run.manifest)
    return {each.server: each for each in found}


def shares(waiting):
    return {each.name: each.share for each in waiting.parts if each.share}


def test_means_and_shares_are_of_the_visits_that_have_parts(tiny):
    visits = [
        visit(1, "app.1", 10, cpu=2, calls=8),
        visit(2, "app.1", 30, cpu=4, lock=20, calls=6),
        visit(3, "app.1", 400),
        {**visit(4, "app.1", 50, cpu=50), "departure_ns": 2_000 * MS},
    ]

    found = waits(tiny({"visits": visits}))["app.1"]

    assert (found.visits, found.measured, found.measured_share) == (3, 2, pytest.approx(2 / 3))
    assert found.all.mean_s == pytest.approx(0.020)
    assert shares(found.all) == pytest.approx({"cpu": 6 / 40, "lock": 20 / 40, "calls": 14 / 40})
    means = {each.name: each.mean_s for each in found.all.parts}
    assert list(means) == list(PARTS)
    assert means["cpu"] == pytest.approx(0.003)
    assert means["queued"] == 0.0, "measured, and nothing of it"
    assert found.cpu_s == pytest.approx(0.006)
    assert found.why is None


def stretch(end_ms, length_ms, thread=7, **states):
    """What a thread did until then; what is not named is 0 ms."""
    spent = {f"{name}_ns": states.get(name, 0) * MS for name in STATES}
    times = {"t_ns": end_ms * MS, "dt_ns": length_ms * MS}
    return {"subject": "app.1", "process": 6, "thread": thread, **times, **spent}


def test_an_event_loop_has_its_own_states_and_of_a_row_that_begins_before_the_part_within(tiny):
    rows = [
        stretch(50, 100, cpu=40, asleep=60),
        stretch(150, 100, cpu=70, disk=30),
        stretch(150, 50, thread=8, runnable=50),
    ]

    found = waits(tiny({"visits": [visit(1, "app.1", 10)], "threads": rows}))["app.1"]

    assert found.all is None
    assert found.loops is not None
    assert (found.loops.threads, found.loops.seen_s) == (2, pytest.approx(0.2))
    states = {each.name: each.share for each in found.loops.states if each.share}
    expected = {"cpu": 90 / 200, "asleep": 30 / 200, "disk": 30 / 200, "runnable": 50 / 200}
    assert states == pytest.approx(expected)


def test_where_visits_have_parts_no_thread_is_told_beside_them(tiny):
    rows = [stretch(50, 50, cpu=50)]
    found = waits(tiny({"visits": [visit(1, "app.1", 10, cpu=10)], "threads": rows}))
    assert found["app.1"].loops is None


def test_the_slowest_are_the_longest_hundredth(tiny):
    usual = [visit(n, "app.1", 10, cpu=10) for n in range(1, 199)]
    slow = [visit(n, "app.1", 300, cpu=10, lock=290) for n in (199, 200)]

    found = waits(tiny({"visits": usual + slow}))["app.1"]

    assert found.slowest.visits == 2
    assert found.slowest.mean_s == pytest.approx(0.3)
    assert shares(found.slowest) == pytest.approx({"cpu": 10 / 300, "lock": 290 / 300})
    assert shares(found.all)["lock"] == pytest.approx(580 / 2580)


def test_the_slowest_are_of_all_visits_and_may_have_no_parts(tiny):
    usual = [visit(n, "app.1", 10, cpu=10) for n in range(1, 199)]

    found = waits(tiny({"visits": [*usual, visit(199, "app.1", 300), visit(200, "app.1", 300)]}))

    assert found["app.1"].slowest is None
    assert (found["app.1"].all.visits, found["app.1"].why) == (198, None)


def test_a_part_that_no_visit_has_is_not_known_and_never_zero(tiny):
    found = waits(tiny({"visits": [visit(1, "app.1", 10, cpu=4, calls=6, throttled=None)]}))

    parts = {each.name: each for each in found["app.1"].all.parts}
    assert (parts["throttled"].mean_s, parts["throttled"].share) == (None, None)
    assert parts["stopped"].share == 0.0


def test_the_system_call_with_most_time_is_named(tiny):
    calls = [("nanosleep", 3), ("nanosleep", 3), ("epoll_wait", 5), (None, 9)]
    visits = [visit(n, "app.1", 10, call, other=ms) for n, (call, ms) in enumerate(calls)]

    assert waits(tiny({"visits": visits}))["app.1"].other_call == "nanosleep"


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ({}, "no thread had a request to itself"),
        ({"servers": {"lb.1": part("lb")}}, "no thread had a request to itself"),
        (
            {"servers": {"lb.1": part("lb", worker_threads=False)}},
            "its threads each serve several requests at once",
        ),
        ({"not_measured": {"waits of lb.1": "it was attached late"}}, "it was attached late"),
        ({"not_measured": {"waits of web.1": "other"}}, "no thread had a request to itself"),
    ],
)
def test_a_server_without_parts_says_why(tiny, manifest, why):
    observed = tiny({"visits": [visit(1, "app.1", 10, cpu=10), visit(2, "lb.1", 10)]}, **manifest)

    found = waits(observed)

    assert (found["lb.1"].all, found["lb.1"].slowest, found["lb.1"].cpu_s) == (None, None, None)
    assert (found["lb.1"].measured, found["lb.1"].why) == (0, why)
    assert found["app.1"].why is None


@pytest.mark.parametrize(
    ("not_measured", "why"),
    [
        ({}, "threads were not traced"),
        ({"waits": "the kernel has no BTF"}, "the kernel has no BTF"),
    ],
)
def test_a_run_without_parts_says_why_once(tiny, not_measured, why):
    observed = tiny({"visits": [visit(1, "app.1", 10)]}, not_measured=not_measured)

    assert waits(observed)["app.1"].why == why


def test_the_servers_that_are_called_are_those_of_the_manifest(tiny):
    servers = {"app.1": part("app"), "db.1": part("db"), "db.2": part("db")}
    calls = [Call("app.1", name, "mysql").__dict__ for name in ("db.1", "db.2")]
    observed = tiny({"visits": [visit(1, "app.1", 10, cpu=1)]}, servers=servers, calls=calls)

    assert waits(observed)["app.1"].callees == ["db.1", "db.2"]


def test_on_a_run_with_parts_they_add_up_and_calls_are_the_childrens_time(
    made, tmp_path: Path
) -> None:
    folder = tmp_path / "001"
    shutil.copytree(made.run.path, folder)
    visit_parts.add(folder, ["web.1", "app.1", "db.1"], share=0.9)
    observed = observe(Run(folder))
    summary, before = summarise(observed), summarise(made)
    observed.db.close()

    found = {each.server: each for each in summary.waits}
    own_s = summary.time.own_per_visit_s
    assert own_s == pytest.approx(before.time.own_per_visit_s), "links by thread change no figure"
    for name in ("web.1", "app.1", "db.1"):
        assert found[name].measured_share == pytest.approx(0.9, abs=0.02)
        for which in (found[name].all, found[name].slowest):
            assert sum(each.share for each in which.parts) == pytest.approx(1.0)
            assert sum(each.mean_s for each in which.parts) == pytest.approx(which.mean_s)
        own = found[name].all.mean_s * (1 - shares(found[name].all).get("calls", 0))
        assert own == pytest.approx(own_s[name], rel=0.05)
        assert found[name].slowest.mean_s > found[name].all.mean_s
    assert found["lb.1"].why == "no thread had a request to itself"
    assert [each.server for each in summary.waits] == [each.name for each in summary.servers]
