"""Who calls whom, and by what protocol, seen instead of said: each claim against real servers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from tests.command import Start
from tests.conftest import host
from tests.own.conftest import FOLDER, PYTHON
from tests.own.made_har import PORT
from tests.trial.left import check_nothing_left
from tierlab.analysis.checked_calls import checked_calls
from tierlab.cli.main import app
from tierlab.cli.running import look
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan, load
from tierlab.observe.calls import left_out
from tierlab.tables.manifest import SOME_CALLS, Manifest, ServerPart
from tierlab.topology import Call, Seen
from tierlab.trial import find_calls
from tierlab.trial.find_calls import completed, with_found_calls
from tierlab.trial.progress import Silent
from tierlab.trial.resume import finished

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

FRONT = f"{PYTHON} front.py {{port}} {{address}}"
HALF = f"""
[experiment]
name = "t"
[system]
workload = "own"
sessions = {{ start = "/" }}
[system.web]
command = "{FRONT} http:127.0.2.1:9000 redis:127.0.3.1:6379 silent:10.9.8.7:5432"
folder = "{FOLDER}"
port = 8000
calls = ["api"]
[system.api]
command = "{FRONT} redis:127.0.3.1:6379"
folder = "{FOLDER}"
port = 9000
calls = ["cache"]
protocol = "tcp"
[system.cache]
server = "redis"
[load]
users = 1
"""
SYSTEM = {
    "workload": "own",
    "web": {"command": "sh a.sh", "port": 8000},
    "api": {"command": "sh b.sh", "port": 9000, "count": 2},
    "cache": {"server": "redis"},
    "sessions": {"start": "/"},
}
OPEN = {"experiment": {"name": "t"}, "system": SYSTEM, "load": {"users": 1}}
"""A file that says nothing of calls."""


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_check_holds_the_calls_that_a_file_has_against_those_it_sees(
    tierlab: Start, tmp_path: Path
) -> None:
    (tmp_path / "e.toml").write_text(HALF)
    before = host()
    command = tierlab("check", "e.toml", "--seconds", "1")
    ended = command.end()
    assert ended.status == 1, ended.stderr
    lines, _, advice = ended.stdout.partition("\nAs it was seen, e.toml would say:\n")
    # A note says what a busy machine had no time to look at.
    judged = [line for line in lines.splitlines() if not line.startswith("note ")]
    told = [line for line in judged if " -> " in line or " calls " in line]
    starts = (
        "FAILS  web.1 -> api.1 http: declared and seen, but the file has tcp",
        "works  api.1 -> cache.1 redis: declared and seen (",
        "FAILS  web.1 -> cache.1 redis: seen, not declared (",
        # Whose a connection is that is refused at once is known now and then.
        "FAILS  {} calls 10.9.8.7:5432, which is no server of the file and answers nobody",
    )
    callers = ("One of the servers", "web.1")
    assert len(told) == len(starts), lines
    for start in starts:
        meant = tuple(map(start.format, callers))
        assert any(line.startswith(meant) for line in told), (start, told)
    said = tomllib.loads(advice)["system"]
    assert said == {"web": {"calls": ["api", "cache"]}, "api": {"protocol": "http"}}
    check_nothing_left(command, tmp_path, before)


def test_a_place_outside_is_told_once_and_by_whom_it_is_called_where_that_is_known() -> None:
    """Of the last connection the refusal was not seen, as all ended."""
    known = Seen("web.1", None, "10.9.8.7", 5432, None, 3, 2, 0)
    unknown = Seen(None, None, "10.9.8.7", 5432, None, 40, 40, 0)
    elsewhere = Seen(None, None, "10.9.8.7", 80, "http", 2, 0, 2)
    manifest = Manifest.model_construct(
        servers={}, calls=[], seen=[known, unknown, elsewhere], not_measured={}
    )
    told = checked_calls(manifest, ()).found
    assert [each.works for each in told] == [False, None]
    assert told[0].sentence.startswith("web.1 calls 10.9.8.7:5432, which is no server of the file")
    assert told[1].sentence.startswith("One of the servers calls 10.9.8.7:80 (http), which is no")


@pytest.mark.parametrize(
    ("protocol", "how"),
    [
        ("postgresql", " (sslmode=disable)"),
        ("mysql", " (ssl-mode=DISABLED)"),
        ("http", ""),
    ],
)
def test_how_calls_can_be_read_that_are_encrypted_is_told(protocol: str, how: str) -> None:
    servers = {
        f"{tier}.1": ServerPart.model_construct(tier=tier, address="127.0.0.1", port=9000)
        for tier in ("web", "db")
    }
    manifest = Manifest.model_construct(
        servers=servers,
        calls=[Call("web.1", "db.1", protocol)],
        seen=[Seen("web.1", "db.1", "127.0.0.1", 9000, "tls", 3, 0, 3)],
        not_measured={},
    )
    (told,) = checked_calls(manifest, ()).found
    assert told.works is None
    assert told.sentence == (
        f"web.1 -> db.1 {protocol}: declared and seen, but encrypted (TLS), so that no message can"
        f" be read: servers of one host can do without it{how}."
    )


def test_what_of_calls_was_not_looked_at_is_told() -> None:
    assert left_out({"crowded_out": 0, "drops": 0, "unattributed": 0}) is None
    searched = left_out({"crowded_out": 0, "drops": 0, "unattributed": 5_678})
    assert searched is not None
    assert searched.startswith("5,678 connections whose process is not known")
    told = left_out({"crowded_out": 1_234, "drops": 0, "unattributed": 0})
    assert told == (
        "1,234 connections or more: too many were open at once, and to whom they went is not told"
    )
    manifest = Manifest.model_construct(
        servers={}, calls=[], seen=[], not_measured={SOME_CALLS: told}
    )
    (said,) = checked_calls(manifest, ()).found
    assert (said.works, said.sentence) == (None, f"Of calls was not looked at: {told}.")


def plan(tables: dict[str, object]) -> TrialPlan:
    (only,) = Experiment.from_tables(tables, "e.toml").trials()
    return only


def seen(caller: str, callee: str, protocol: str | None, connections: int = 1) -> Seen:
    return Seen(caller, callee, "127.0.0.1", 1, protocol, connections, 0, connections)


FOUND = [
    seen("web.1", "api.1", "http", 5),
    seen("web.1", "api.2", None),
    seen("api.2", "cache.1", "redis"),
    seen("api.1", "api.2", "http"),
]


def test_what_was_seen_completes_a_file_that_says_nothing_of_calls() -> None:
    before = plan(OPEN)
    assert before.system.callees("web") == ("api", "cache"), "as long as nobody looked"
    after = completed(before, FOUND)
    assert {tier: after.system.callees(tier) for tier in ("web", "api", "cache")} == {
        "web": ("api",),
        "api": ("cache",),
        "cache": (),
    }
    assert after.system.protocols["api"] == ("http", 9000), "not fcgi, as is usual on that port"
    assert after.found == {("", "web", "api"), ("", "api", "cache"), ("", "api", "api")}
    again = plan(after.as_file())
    assert again.as_file() == after.as_file()
    assert not again.system.application.finds_calls


def test_whom_nobody_was_seen_to_call_stays_with_the_first_and_tls_is_not_read() -> None:
    after = completed(plan(OPEN), [seen("web.1", "api.1", "tls")])
    assert after.system.callees("web") == ("api", "cache")
    assert after.system.protocols["api"] == ("tcp", 9000)
    assert after.found == {("", "web", "api")}


@contextmanager
def running(*commands: Sequence[str | Path]) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Servers of somebody else's, started and stopped; each has to listen before the next."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            end = time.monotonic() + 10
            process = psutil.Process(started[-1].pid)
            while not any(c.status == psutil.CONN_LISTEN for c in process.net_connections("tcp")):
                assert time.monotonic() < end, command
                time.sleep(0.01)
        yield started
    finally:
        for each in reversed(started):
            each.terminate()
            each.wait(10)


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.alone  # connections of a millisecond: on a full machine all may be over when asked for
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server")
def test_init_follows_the_connections_of_a_server_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    file = tmp_path / "e.toml"
    web, cache = str(PORT), str(PORT + 4_000)
    asked = f"redis:127.0.0.1:{cache}"
    with running(
        ("redis-server", "--port", cache, "--bind", "127.0.0.1", "--save", "", "--dir", tmp_path),
        (sys.executable, FOLDER / "front.py", web, "127.0.0.1", asked),
    ) as servers:
        ended = CliRunner().invoke(app, ["init", str(file), "--own", "--running", web])
        assert ended.exit_code == 0, ended.output
        assert all(each.poll() is None for each in servers)
    system = tomllib.loads(file.read_text())["system"]
    assert system["environment"] == "host"
    assert system["web"] == {"address": "127.0.0.1", "port": PORT, "calls": ["redisserver"]}
    assert system["redisserver"] == {
        "address": "127.0.0.1",
        "port": PORT + 4_000,
        "protocol": "redis",
    }
    assert list(load(file).trials()[0].system.tiers) == ["web", "redisserver"]
    assert not list((tmp_path / "state").rglob("*.jsonl")), "no ledger is left"


@pytest.mark.parametrize("where", ["pid:1x", "nowhere", "127.0.0.1:1", ""])
def test_it_is_told_that_nobody_listens(where: str) -> None:
    with pytest.raises(UserError, match=f"^--running {where}: no server listens there; say a port"):
        look(where, "/", print)


def test_going_on_does_not_look_again_where_a_trial_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    def look(plan: TrialPlan, runs: Path, _: object) -> tuple[Path, Manifest]:
        looked.append(plan)
        return runs, Manifest.model_construct(seen=FOUND, calls=[], not_measured={})

    monkeypatch.setattr(find_calls, "rehearse", look)
    monkeypatch.setattr(find_calls, "check_needs", lambda _: None)
    said: list[str] = []

    def complete(before: Path | None, **tables: Any) -> tuple[TrialPlan, ...]:
        asked = Experiment.from_tables(OPEN | {"factors": {"load.users": [1, 2]}} | tables)
        return with_found_calls(asked, Silent(), said.append, before).trials()

    first, second = complete(tmp_path)
    assert len(looked) == 1, "nothing is done yet"
    lived(tmp_path / "001", first)
    assert told(complete(tmp_path)) == told((first, second))
    assert len(looked) == 1
    assert said[-1] == f"who calls whom is as it was found for {tmp_path / '001'}"
    assert list(finished(tmp_path, complete(tmp_path))) == ["001"]
    assert told(complete(None)) == told((first, second))
    assert len(looked) == 2, "without --resume"
    changed = SYSTEM | {"api": {"command": "sh c.sh", "port": 9000, "count": 2}}
    complete(tmp_path, system=changed)
    assert len(looked) == 3, "another server may call others"


def told(plans: Sequence[TrialPlan]) -> list[tuple[dict[str, Any], frozenset[Any]]]:
    return [(each.as_file(), each.found) for each in plans]


def lived(folder: Path, plan: TrialPlan) -> None:
    """A run folder of a plan whose calls were found."""
    names = [f"{tier}.1" for tier in plan.system.tiers]
    there = {"server": "x", "address": "127.0.0.1", "port": 1, "protocol": "http"}
    parts = {name: ServerPart(tier=name[:-2], **there) for name in names}
    calls = [Call(f"{a}.1", f"{b}.1", "http", found=True) for _, a, b in plan.found]
    folder.mkdir()
    made_run.manifest(plan=plan.as_file(), servers=parts, calls=calls).write(folder)
