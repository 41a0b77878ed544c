"""How what Tierlab sees of third-party applications is judged: each verdict can be reached."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "third_party"))

import blind
import counting
import crowding
import linking
import parts
from declaration import Application, Truth, every

APPLICATIONS = every()
NGINX = Truth(log="access.log", line=r"^(?P<time>\d+\.\d+) ")


def by(name: str) -> Application:
    [found] = [each for each in APPLICATIONS if each.name == name]
    return found


def by_name(application: Application) -> str:
    return application.name


@pytest.mark.parametrize(
    ("truth", "lines"),
    [
        (NGINX, ["0.5 early", "12.250 GET /", "no request", "19.0 GET /", "21.5 late"]),
        (
            Truth(log="l", line=r"\[(?P<time>.*?)\]", format="%d/%b/%Y:%H:%M:%S %z"),
            [
                "[01/Jan/1970:00:00:12 +0000]",
                "[01/Jan/1970:01:00:13 +0100]",
                "[01/Jan/1970:00:01:00 +0000]",
            ],
        ),
        (Truth(log="l", line=r"^(?P<time>\d+)", format="milliseconds"), ["12000", "13000", "9000"]),
        (Truth(log="l", line="GET", format="untimed"), ["GET /", "GET /a", "started"]),
        (
            Truth(log="l", line=r"^(?P<count>\d+).*FROM entries", format="counters"),
            ["2\tSELECT FROM entries", "9\tBEGIN"],
        ),
    ],
)
def test_what_was_logged_while_the_load_was_on_is_counted(
    truth: Truth, lines: list[str], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(lines))
    span = counting.Span(10_000_000_000, 20_000_000_000)
    assert counting.logged(log, truth, span) == 2


@pytest.mark.parametrize(
    ("visits", "logged", "holds"),
    [(1000, 1000, True), (999, 1000, True), (998, 1000, False), (1002, 1000, False), (0, 0, False)],
)
def test_one_in_a_thousand_may_be_missing_on_either_side(
    visits: int, logged: int, holds: bool
) -> None:
    assert counting.Count("web", visits, logged).holds is holds


@pytest.mark.parametrize(
    ("logged", "holds"), [(990, True), (1000, True), (995, True), (980, False), (1010, False)]
)
def test_what_was_cut_may_be_logged_or_not(logged: int, holds: bool) -> None:
    assert counting.Count("web", 1000, logged, cut=10).holds is holds


def test_a_call_belongs_to_the_only_request_that_is_under_way() -> None:
    """Where none is, to the one before."""
    above = pd.DataFrame(
        {"visit": [1, 2], "arrival_ns": [0, 10**6], "end_ns": [5 * 10**5, 2 * 10**6]}
    )
    calls = pd.DataFrame(
        {
            "arrival_ns": [10**5, 2 * 10**5, 7 * 10**5, 8 * 10**5, 11 * 10**5, 12 * 10**5],
            "parent": [1, None, 1, 2, 1, 2],
        }
    )
    found = linking.Links("db.1", len(calls))
    linking.judge(found, calls, above)
    assert (found.certain, found.right, found.wrong) == (4, 2, 1)
    assert (found.outside, found.invented) == (2, 1)


@pytest.mark.parametrize(
    ("findings", "verdict"),
    [
        ([("cpu", "db.1", 100)], "right"),
        ([("cpu", "app.1", 100), ("cpu", "db.1", 150)], "right"),
        ([("cpu", "app.1", 100)], "wrong"),
        ([("unknown", "db.1", 100)], "unknown"),
        ([("cpu", "db.1", 10**12)], "not told"),
        ([], "not told"),
    ],
)
def test_a_disturbance_is_told_by_its_cause_its_server_and_its_time(
    findings: list[tuple[str, str, int]], verdict: str, tmp_path: Path
) -> None:
    run, truth = tmp_path / "001", tmp_path / "001.truth"
    run.mkdir()
    truth.mkdir()
    true = {"class": "cpu", "subject": "db.1", "start_ns": 50, "end_ns": 200, "done": True}
    (truth / "truth.jsonl").write_text(json.dumps(true) + "\n")
    told: list[dict[str, Any]] = [
        {"cause": cause, "subject": subject, "windows": [{"start_ns": at, "end_ns": at + 10}]}
        for cause, subject, at in findings
    ]
    (run / "findings.json").write_text(json.dumps({"findings": told}))
    [found] = blind.judge(run)
    assert found.verdict == verdict


@pytest.mark.parametrize(("stopped_s", "share"), [(1.0, 1.0), (0.9, 0.9), (0.0, 0.0)])
def test_a_frozen_servers_visit_was_stopped_for_as_long(
    stopped_s: float, share: float, tmp_path: Path
) -> None:
    """It was there for a second of the freeze, which began before it came."""
    run = tmp_path / "001"
    run.mkdir()
    duckdb.connect().execute(
        f"""COPY (SELECT 'web.1' AS server, 2500000000 AS arrival_ns, 3600000000 AS departure_ns,
            {round(stopped_s * 1e9)} AS stopped_ns, 1 AS cpu_ns) TO '{run}/visits.parquet'"""
    )
    truth = {"class": "freeze", "subject": "web.1", "done": True}
    (tmp_path / "001.truth").mkdir()
    (tmp_path / "001.truth" / "truth.jsonl").write_text(
        json.dumps(truth | {"start_ns": 2_000_000_000, "end_ns": 3_500_000_000})
    )
    [found] = parts.appearances(by("wordpress"), run)
    assert found.share == pytest.approx(share)
    assert found.part == "stopped"


@pytest.mark.parametrize(("second", "torn"), [(1, 0), (2, 2)])
def test_calls_of_two_requests_mixed_on_one_connection_are_torn(
    second: int, torn: int, tmp_path: Path
) -> None:
    """Requests 1 and 2 are under way together, and a connection has five calls: three of the first,
    then two of the second. With its second call given to the other request, that and the one after
    it stand between calls of the other.
    """
    rows = [(1, "web.1", 0, 9, None), (2, "web.1", 0, 9, None)]
    rows += [(at + 2, "db.1", at, at + 1, of) for at, of in enumerate((1, second, 1, 2, 2), 1)]
    values = ", ".join(
        f"({visit}, '{server}', 7, {begin}000000, {end}000000, {parent or 'NULL'})"
        for visit, server, begin, end, parent in rows
    )
    with duckdb.connect() as own:
        own.execute(
            f"""COPY (FROM (VALUES {values})
                AS t(visit, server, connection, arrival_ns, departure_ns, parent))
                TO '{tmp_path}/visits.parquet'"""
        )
        told = {"file": f"{tmp_path}/visits.parquet", "caller": "web.1", "server": "db.1"}
        found = own.execute(crowding.TORN, {**told, "begin": 0, "end": 10**9}).fetchone()
    assert found == (torn,)


@pytest.mark.parametrize("application", [each for each in APPLICATIONS if each.parts], ids=by_name)
def test_what_is_done_is_done_to_servers_of_the_experiment(application: Application) -> None:
    experiment = tomllib.loads(application.experiment + parts.disturbances(application))
    assert {each["on"] for each in experiment["disturb"]} == set(application.parts)
    assert all(each.removesuffix(".1") in experiment["system"] for each in application.parts)


@pytest.mark.parametrize("application", APPLICATIONS, ids=by_name)
def test_a_declaration_is_of_its_experiment(application: Application) -> None:
    experiment = tomllib.loads(application.experiment)
    assert experiment["experiment"]["name"] == application.name
    servers = set(experiment["system"]) - {"workload", "environment", "sessions"}
    named = (*application.parts, *application.crowded, *filter(None, [application.held]))
    assert {each.removesuffix(".1") for each in named} <= servers
    assert application.truths
    assert set(application.truths) <= servers
    assert (application.folder / "setup.sh").exists()
    for server, truth in application.truths.items():
        assert truth.pattern
        kept = experiment["system"][server].get("logs", [])
        own = {
            "console.log",
            "statements.tsv",
            "stats.tsv",
            None,
            *(each.replace("/", "_") for each in kept),
        }
        assert truth.log in own or (application.folder / "start.sh").exists()


def test_there_are_ten_on_six_runtimes_and_two_for_ci() -> None:
    assert len(APPLICATIONS) >= 10
    assert len({each.runtime for each in APPLICATIONS}) >= 6
    assert sum(each.quick for each in APPLICATIONS) == 2
