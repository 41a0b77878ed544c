"""Links of Node.js, PostgreSQL and Redis, one thread and everything interleaved, against what the
application's own log says: by traces, and without any id."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.figures import figure

from .crowd import Linked, kept_visits, link
from .score import at, numbers

pytestmark = [
    pytest.mark.environments,
    pytest.mark.alone,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]

SHOP = Path(__file__).parents[2] / "apps" / "shop"
CALLS = {"app.1": ["cache.1", "db.1"]}
EXPERIMENT = f"""
[experiment]
name = "crowd"
[system]
workload = "own"
sessions = {{ start = "/" }}
[system.app]
server = "nodejs"
folder = "{SHOP}"
port = 3000
ready = "/"
logs = ["access.log"]
soft = {{ pool = 20 }}
[system.app.environment]
PGHOST = "{{db.address}}"
PGPORT = "{{db.port}}"
PGUSER = "{{db.user}}"
PGPASSWORD = "{{db.password}}"
PGDATABASE = "{{db.database}}"
POOL = "{{pool}}"
REDIS_URL = "redis://{{cache}}"
CACHE_SECONDS = "1"
ACCESS_LOG = "access.log"
[system.cache]
server = "redis"
[system.db]
server = "postgresql"
[load]
users = 60
think = "20ms"
phases = {{ ramp_up = "1s", runtime = "3s", ramp_down = "0s" }}
"""

NEAREST = 40
"""Of the visits that began after a request was sent, how many it may be."""
MOST_WRONG = 0.02
LEAST_RIGHT = {"cache": 0.95, "db": 0.65}
"""By server. Statements lack what no message tells: where several requests for one page wait for
the same, any order is as likely."""
SURE = 0.9
LEAST_OF_SURE = 0.95
"""Of the links whose confidence is at least the former, the share that is right."""
LEAST_BY_TRACE = 0.99


@dataclass(frozen=True)
class Trial:
    """What the application wrote, and the visits, linked by ids and without."""

    log: Sequence[Mapping[str, Any]]
    requests: pa.Table
    by_ids: Linked
    hidden: Linked


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    if not (SHOP / "node_modules").exists():
        pytest.skip("the shop's libraries are not installed: make setup-test")
    folder = tmp_path_factory.mktemp("node")
    raw = kept_visits(EXPERIMENT, folder)
    run = folder / "runs" / "crowd" / "001"
    written = (run / "logs" / "app.1" / "logs" / "access.log").read_text().splitlines()
    return Trial(
        [json.loads(line) for line in written],
        pq.read_table(run / "requests.parquet"),
        link(raw, CALLS, folder / "ids", hide_ids=False),
        link(raw, CALLS, folder / "hidden", hide_ids=True, event_loops=["app.1"]),
    )


@pytest.fixture(scope="module")
def visit_of(trial: Trial) -> dict[str, int]:
    """The application's visit of a trace: it began just after the user's request, and ended just
    before. Where two requests are nearest to one visit, it is neither's."""
    app = at(trial.by_ids.visits, "app.1").sort_by("arrival_ns")
    visits, arrivals, ends = (numbers(app[it]) for it in ("visit", "arrival_ns", "departure_ns"))
    found: dict[str, int] = {}
    for row in trial.requests.select(["request_id", "start_ns", "end_ns"]).to_pylist():
        first = int(np.searchsorted(arrivals, row["start_ns"]))
        near = slice(first, first + NEAREST)
        apart = arrivals[near] - row["start_ns"] + np.abs(row["end_ns"] - ends[near])
        if len(apart) and row["request_id"] is not None:
            found[row["request_id"].zfill(32)] = int(visits[first + int(np.nanargmin(apart))])
    times = Counter(found.values())
    return {trace: visit for trace, visit in found.items() if times[visit] == 1}


def calls(line: Mapping[str, Any], server: str) -> list[tuple[int, int]]:
    """What a request asked of a server: from which port, and its number on that connection."""
    parts = (call.split() for call in line["calls"])
    return [(int(port), int(number)) for name, port, number in parts if name == server]


def test_every_request_statement_and_command_is_a_visit(trial: Trial) -> None:
    visits = trial.by_ids.visits
    asked = Counter(name for line in trial.log for name in (c.split()[0] for c in line["calls"]))
    commands = [row for row in at(visits, "cache.1").to_pylist() if row["label"] in COMMANDS]
    statements = [row for row in at(visits, "db.1").to_pylist() if row["link"] == "id"]
    traced = sum(len(calls(line, "db")) for line in trial.log if line["trace"] is not None)
    figure(f"{len(trial.log)} requests, {asked['db']} statements, {asked['cache']} commands")
    assert len(trial.log) > 1_000
    assert at(visits, "app.1").num_rows == len(trial.log)
    assert len(commands) == asked["cache"]
    assert abs(len(statements) - traced) <= 0.01 * traced


COMMANDS = {"GET", "SET", "INCR", "HGETALL", "HINCRBY", "EXPIRE", "DEL"}
"""The shop's; others are said by whoever asks whether Redis is ready."""


def test_statements_are_linked_by_their_traces(trial: Trial, visit_of: dict[str, int]) -> None:
    linked = Counter(
        row["parent"] for row in at(trial.by_ids.visits, "db.1").to_pylist() if row["link"] == "id"
    )
    requests = [line for line in trial.log if line["trace"] in visit_of and calls(line, "db")]
    right = [linked[visit_of[line["trace"]]] == len(calls(line, "db")) for line in requests]
    share = float(np.mean(right))
    figure(f"Node to PostgreSQL by traces: {len(requests)} requests, {share:.2%} have their own")
    assert len(requests) > 300
    assert share >= LEAST_BY_TRACE


@pytest.mark.parametrize("server", ["cache", "db"])
def test_without_ids_hardly_a_link_is_wrong(
    trial: Trial, visit_of: dict[str, int], server: str
) -> None:
    truth = of_cache(trial, visit_of) if server == "cache" else of_database(trial)
    guessed = at(trial.hidden.visits, f"{server}.1")
    columns = [guessed[name].to_pylist() for name in ("visit", "parent", "confidence")]
    found = {visit: (parent, sure) for visit, parent, sure in zip(*columns, strict=True)}
    links = [(*found[visit], parent) for visit, parent in truth.items()]
    right = float(np.mean([guess == parent for guess, _, parent in links]))
    wrong = float(np.mean([guess not in (None, parent) for guess, _, parent in links]))
    sure = [guess == parent for guess, sure, parent in links if guess is not None and sure >= SURE]
    figure(
        f"Node to {server} without ids: {len(links)} visits, right {right:.2%}, "
        f"wrong {wrong:.2%}, unknown {1 - right - wrong:.2%}; of {len(sure)} that are sure, "
        f"right {np.mean(sure):.2%}"
    )
    assert len(links) > 500
    assert wrong <= MOST_WRONG
    assert right >= LEAST_RIGHT[server]
    assert np.mean(sure) >= LEAST_OF_SURE


def of_cache(trial: Trial, visit_of: Mapping[str, int]) -> dict[int, int]:
    """True parents of commands: those of the one connection are numbered as they were sent."""
    commands = at(trial.by_ids.visits, "cache.1").sort_by([("arrival_ns", "ascending")]).to_pylist()
    by_connection: dict[int, list[int]] = defaultdict(list)
    for row in commands:
        by_connection[row["connection"]].append(row["visit"])
    sent = max(by_connection.values(), key=len)
    return {
        sent[number - 1]: visit_of[line["trace"]]
        for line in trial.log
        if line["trace"] in visit_of
        for _, number in calls(line, "cache")
    }


def of_database(trial: Trial) -> dict[int, int]:
    """True parents of statements: those by traces, which another test holds against the log."""
    rows = at(trial.by_ids.visits, "db.1").to_pylist()
    return {row["visit"]: row["parent"] for row in rows if row["link"] == "id"}
