"""Each cause is named from its own signature, at the right server, in the right window."""

from __future__ import annotations

from functools import cache

import duckdb
import numpy as np
import pytest

from tierlab.analysis.span import Span
from tierlab.analysis.statistics.association import Association
from tierlab.diagnosis import verdicts
from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.diagnosis.evidence import SEVERAL
from tierlab.diagnosis.moved import Candidates, _Figure
from tierlab.diagnosis.signals import Signals
from tierlab.tables.run import Run
from tierlab.tables.schemas import SCHEMAS

from . import made_stall
from .made_stall import MS, STALL, TICK
from .signatures import SIGNATURES, diagnosed, idle, more_visits, pressed, processes


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Each signature's run folder and diagnosis, made once."""

    @cache
    def make(name):
        _, subject, samples, extra = SIGNATURES[name]
        folder = made_stall.make(tmp_path_factory.mktemp("run"), subject, samples, extra)
        return folder, diagnosed(folder)

    return make


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_cause_is_known_by_its_signature(signed, name):
    cause, subject, _, _ = SIGNATURES[name]
    _, found = signed(name)
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, subject)]
    (finding,) = found.findings
    (window,) = finding.windows
    assert abs(window.start_ns - STALL[0]) <= 25 * MS
    assert abs(window.end_ns - STALL[1]) <= 25 * MS
    assert finding.confidence >= 0.4
    assert finding.delayed.count >= 10
    assert finding.remedies
    assert subject in finding.words


def test_a_slow_way_to_a_server_is_told_from_a_stopped_one(tmp_path):
    """The balancer stalls, but bytes wait before the wire: what lies below it was reached late."""
    samples = {"net": [{"subject": "lo", "queued_bytes": 40_000}]}
    found = diagnosed(made_stall.make(tmp_path, "lb.1", samples))
    assert [(each.cause, each.subject) for each in found.findings] == [("network", "db.1")]


def test_a_slow_way_back_is_told_from_a_stopped_server(tmp_path):
    """Replies to the application waited before the wire: the proof took it for a stopped server."""
    samples = {
        "net": [{"subject": "lo", "queued_bytes": 40_000}],
        "domain": idle("db.1", threads_stopped=0),
    }
    found = diagnosed(made_stall.make(tmp_path, "db.1", samples))
    assert [(each.cause, each.subject) for each in found.findings] == [("network", "lb.1")]


@pytest.mark.parametrize(("ended", "cause"), [(4, "restart"), (1, "pool")])
def test_a_restart_is_told_from_a_pool_that_is_used_up(tmp_path, ended, cause):
    """Nobody accepts connections in either; of a pool one process may go and another one come."""
    end = made_stall.START + made_stall.LENGTH
    lives = {number: (0, STALL[0] if number <= ended else end) for number in range(1, 6)}
    lives |= {number + 10: (STALL[1], end) for number in range(1, ended + 1)}
    samples = {
        "listen": [{"subject": "web.1", "accept_queue": 14}],
        "domain": idle("web.1", threads_stopped=0),
    }
    extra = {"process": processes(lives)}
    found = diagnosed(made_stall.make(tmp_path, "web.1", samples, extra))
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, "web.1")]


def test_a_server_of_one_thread_that_is_always_at_work_has_no_workers_that_are_held(tmp_path):
    """It accepts nothing meanwhile; one that idles while connections wait has all workers held."""
    waiting = {"listen": [{"subject": "web.1", "accept_queue": 14}]}
    for cores, is_held in ((0.0, True), (1.0, False)):
        at_work = [{"subject": "web.1", "threads_stopped": 0, "cpu_ns": round(cores * TICK)}]
        samples = {**waiting, "domain": at_work}
        found = diagnosed(made_stall.make(tmp_path / str(cores), "web.1", samples))
        assert [each.cause == "pool" for each in found.findings] == [is_held]


LOST = {"subject": "ns", "retransmissions": 3}


def test_lost_packets_are_told_from_a_slow_way_and_from_a_stopped_server(tmp_path):
    found = diagnosed(made_stall.make(tmp_path, "lb.1", {"tcp": [LOST]}))
    assert [(each.cause, each.subject) for each in found.findings] == [("loss", "db.1")]


@pytest.mark.parametrize(
    "samples",
    [
        {"tcp": [LOST | {"spurious_retransmissions": 3}]},
        {"tcp": [LOST], "listen": [{"subject": "db.1", "accept_queue": 101}]},
    ],
)
def test_segments_that_had_arrived_or_met_a_full_queue_are_not_lost(tmp_path, samples):
    found = diagnosed(made_stall.make(tmp_path, "lb.1", samples))
    assert [(each.cause, each.subject) for each in found.findings] == [("unknown", "lb.1")]


def test_nothing_abnormal_is_an_answer(tmp_path):
    found = diagnosed(made_stall.make(tmp_path, None))
    assert found.verdict == "nothing abnormal"
    assert found.findings == []
    assert "Nothing abnormal" in found.words


def test_a_stall_without_a_known_cause_is_named_unknown(tmp_path):
    found = diagnosed(made_stall.make(tmp_path, "db.1"))
    assert [(each.cause, each.subject) for each in found.findings] == [("unknown", "db.1")]
    assert "no cause among those that are known" in found.words


BY_TABLES: dict[tuple[str, ...], str] = {}
"""The first signature of each cause for the tables that tell of it."""
for _name, (_cause, _, _samples, _extra) in SIGNATURES.items():
    BY_TABLES.setdefault((_cause, *sorted(_samples), *sorted(_extra)), _name)


@pytest.mark.parametrize("name", BY_TABLES.values())
def test_less_evidence_never_makes_it_surer(signed, name):
    """Whatever one table is taken away: the same answer less sure, or no cause named. Those that
    tell of the cause and of who waits are taken from each, all of them from the first.
    """
    _, _, samples, extra = SIGNATURES[name]
    folder, diagnosis = signed(name)
    (whole,) = diagnosis.findings
    telling = {*samples, *extra, "visits", "requests"}
    for table in SCHEMAS if name == next(iter(SIGNATURES)) else sorted(telling):
        file = folder / f"{table}.parquet"
        kept = file.read_bytes()
        file.unlink()
        findings = diagnosed(folder).findings
        file.write_bytes(kept)
        for finding in findings:
            if finding.cause != "unknown":
                assert finding.confidence < whole.confidence, table


@pytest.mark.parametrize(
    ("used_ms", "causes"),
    [
        ((None, None, None, 45, 45, 45), ["freeze"]),
        ((None, 45, 45, 45, 45, 45), ["unknown"]),
        ((1, None, None, 1, 45, 45), ["freeze"]),
        ((5, None, None, 5, 45, 45), ["unknown"]),
    ],
    ids=["half of the ticks", "one of six", "two and most of those beside", "two"],
)
def test_a_stop_that_is_over_before_the_first_who_waited_went_on_is_still_one(
    tmp_path, used_ms, causes
):
    """A database was stopped for 82 ms of 108, and worked off what had come in the rest: in most
    of the ticks it had used CPU, and the wait had no known cause. An application was for 125 ms of
    155, and of these only one tick of 50 ms was its stop's alone.
    """
    samples = {"domain": idle("db.1", threads_stopped=30, threads_blocked=0)}
    folder = made_stall.make(tmp_path, "db.1", samples)
    rows = made_stall.read(folder, "domain")
    for row in rows:
        if row["subject"] == "db.1" and STALL[0] < row["t_ns"] <= STALL[1]:
            used = used_ms[(row["t_ns"] - STALL[0]) // TICK - 1]
            if used is not None:
                row |= {"cpu_ns": used * MS, "threads_stopped": None}
    made_stall.write(folder, "domain", rows)
    assert [each.cause for each in diagnosed(folder).findings] == causes


@pytest.mark.parametrize(("busy", "cause"), [(0.8, "lock"), (0.99, "unknown")])
def test_without_its_class_too_many_users_are_no_lock(tmp_path, monkeypatch, busy, cause):
    """Work that takes longer holds its locks for longer: three of five overloads were a lock, as
    they wait for CPUs no more at that moment than in all others.
    """
    others = tuple(each for each in CATALOGUE if each.name != "overload")
    monkeypatch.setattr(verdicts, "CATALOGUE", others)
    samples = {"database": [{"subject": "db.1", "table_lock_waiting": 9}]}
    folder = made_stall.make(tmp_path, "db.1", samples)
    for table, column, value in (("cpu", "busy", busy), ("pressure", "some", busy)):
        rows = made_stall.read(folder, table)
        for row in rows:
            if table == "cpu" or (row["subject"], row["resource"]) == ("db.1", "cpu"):
                row[column] = value
        made_stall.write(folder, table, rows)
    assert [each.cause for each in diagnosed(folder).findings] == [cause]


def test_a_pool_cut_down_beside_a_stopped_database_is_named_too(tmp_path):
    """A pair of the proof: the database stood, and one connection was left to the pool."""
    samples = {
        "domain": idle("db.1", threads_stopped=30, threads_blocked=0),
        "soft": [{"subject": "app.1", "resource": "pool", "limit": 1, "in_use": 1, "waiting": 12}],
    }
    folder = made_stall.make(tmp_path, "db.1", samples)
    held_at(folder, "app.1")
    found = diagnosed(folder)
    assert {(each.cause, each.subject) for each in found.findings} == {
        ("freeze", "db.1"),
        ("pool", "app.1"),
    }


def test_a_pool_whose_connections_are_held_beside_a_stopped_database_is_named_too(tmp_path):
    """All are in use, but for most of them nothing is asked of the database."""
    found = diagnosed(with_full_pool(tmp_path, calls=0))
    assert {(each.cause, each.subject) for each in found.findings} == {
        ("freeze", "db.1"),
        ("pool", "app.1"),
    }


def test_a_pool_that_a_stopped_database_filled_is_no_cause_of_its_own(tmp_path):
    found = diagnosed(with_full_pool(tmp_path, calls=50))
    assert [(each.cause, each.subject) for each in found.findings] == [("freeze", "db.1")]


def with_full_pool(folder, calls: int):
    """A stopped database, a pool in use up to its limit, and so many calls that wait."""
    samples = {
        "domain": idle("db.1", threads_stopped=30, threads_blocked=0),
        "soft": [{"subject": "app.1", "resource": "pool", "limit": 64, "in_use": 64, "waiting": 9}],
    }
    made_stall.make(folder, "db.1", samples)
    held_at(folder, "app.1")
    waiting = [
        {"server": name, "label": "SELECT ?", "protocol": "mysql"}
        | {"arrival_ns": STALL[0] + n, "request_end_ns": STALL[0] + n, "departure_ns": STALL[1]}
        for n in range(calls)
        for name in ("lb.1", "db.1")
    ]
    more_visits(folder, waiting)
    return folder


def test_the_cpu_that_many_visits_take_is_no_neighbour(tmp_path):
    """What piled up before a server is worked off with CPU time, and its threads wait for it."""
    samples = {
        "domain": [{"subject": "db.1", "cpu_ns": 60 * MS}],
        "pressure": pressed("db.1", "cpu", 0.9),
        "cpu": [{"subject": f"cpu{n}", "busy": 0.75} for n in range(2)],
    }
    folder = made_stall.make(tmp_path, "db.1", samples)
    assert "cpu" in {each.cause for each in diagnosed(folder).findings}
    more_visits(
        folder,
        [
            {"server": "db.1", "label": "SELECT 1", "protocol": "mysql"}
            | {"arrival_ns": STALL[0] + n * MS // 2, "request_end_ns": STALL[0] + n * MS // 2}
            | {"departure_ns": STALL[0] + n * MS // 2 + MS}
            for n in range(590)
        ],
    )
    assert "cpu" not in {each.cause for each in diagnosed(folder).findings}


def held_at(folder, server) -> None:
    """Let requests that came within the stall wait at a server that calls nobody meanwhile."""
    more_visits(
        folder,
        [
            {"server": server, "label": "GET /page", "protocol": "ajp13"}
            | {"arrival_ns": STALL[0] + n * MS, "request_end_ns": STALL[0] + n * MS}
            | {"departure_ns": STALL[1] - n * MS}
            for n in range(20, 60)
        ],
    )


def test_an_unknown_cause_comes_with_what_moved_with_it(tmp_path):
    sent_again = {"retransmissions": 40, "spurious_retransmissions": 40}
    samples = {"tcp": [{"subject": "ns"} | sent_again]}
    (found,) = diagnosed(made_stall.make(tmp_path, "db.1", samples)).findings
    assert found.cause == "unknown"
    assert [(each.table, each.subject) for each in found.evidence] == [("tcp", "ns")]
    assert "segments sent again of ns rose" in found.evidence[0].words


def test_what_an_unknown_cause_brings_about_is_not_named(tmp_path):
    """A quota, left out of the catalogue, was called a pool: connections waited to be accepted once
    the queues had grown.
    """
    samples = {"listen": [{"subject": "web.1", "accept_queue": 14}]}
    folder = made_stall.make(tmp_path, "db.1", samples)
    came = STALL[0] + 150 * MS
    more_visits(
        folder,
        [
            {"server": "web.1", "label": "GET /page", "protocol": "http"}
            | {"arrival_ns": came + n, "request_end_ns": came + n, "departure_ns": STALL[1] + n}
            for n in range(20)
        ],
    )
    assert [(each.cause, each.subject) for each in diagnosed(folder).findings] == [
        ("unknown", "db.1")
    ]


def test_what_moved_with_it_is_no_certainty(tmp_path):
    """A share of 0.0004 was said to be "0.0% by chance"."""
    association = Association(
        cause="0", lag_s=0.2, correlation=0.9, p=1e-5, p_holm=0.0004, p_fdr=0.0004
    )
    made_stall.manifest().write(tmp_path)
    candidates = Candidates(Signals(Run(tmp_path), duckdb.connect()), Span(0, 10**9))
    candidates._figures = [_Figure("tcp", "ns", "segments sent again", np.zeros(2))]
    words = candidates._said(association).words
    assert "as strong in under 0.1% of shuffled runs, corrected for 1 figures" in words


def test_a_packet_that_is_just_being_sent_is_no_slow_network(tmp_path):
    """A surge of 0.9 s near capacity was called a slow network: 7 kB were seen in one of 16 ticks,
    while all requests waited for a connection to the database.
    """
    samples = {"net": [{"subject": "lo", "queued_bytes": 40_000}]}
    folder = made_stall.make(tmp_path, "lb.1", samples)
    assert [each.cause for each in diagnosed(folder).findings] == ["network"]
    rows = made_stall.read(folder, "net")
    held = [row for row in rows if row["queued_bytes"]]
    assert len(held) >= SEVERAL
    for row in held[:2] + held[3:]:
        row["queued_bytes"] = 0
    made_stall.write(folder, "net", rows)
    assert [each.cause for each in diagnosed(folder).findings] == ["unknown"]
