"""Finishing a trial: the linking process is accounted for like every other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.ledger import accounts, ledger_folder
from tierlab.environments.whereabouts import here
from tierlab.errors import UserError
from tierlab.observe import agent
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest, Owner, read
from tierlab.tables.rows import write_rows
from tierlab.tables.run import Run
from tierlab.trial.complete import complete
from tierlab.trial.finish import finish
from tierlab.trial.link import RAW

AGENT = """#!/bin/sh
cat {ledgers}/*.jsonl > {seen}
{then}
"""
SUMMARY = """echo '{"summary":{"cpu_ns":7}}'"""
VISIT = {
    **{"visit": 1, "server": "web.1", "protocol": "http", "connection": 1, "label": "/"},
    **{"arrival_ns": 1, "request_end_ns": 2, "departure_ns": 3, "bytes_in": 1, "bytes_out": 1},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run folder with visits that are still to be linked."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TIERLAB_AGENT", str(tmp_path / "tierlab-agent"))
    made = create(tmp_path, "e")
    write_rows(made.streams / RAW, "visits", [VISIT])
    return made


def make_agent(tmp_path: Path, then: str) -> None:
    """One that keeps what the ledgers say and then ends as told."""
    made = tmp_path / "tierlab-agent"
    made.write_text(AGENT.format(ledgers=ledger_folder(), seen=tmp_path / "seen", then=then))
    made.chmod(0o755)


def unfinished(**more: Any) -> Manifest:
    return Manifest(
        experiment="e",
        trial="001",
        environment="native",
        workload="rubbos",
        created_ns=0,
        **more,
    )


def finished(folder: RunFolder, tmp_path: Path, then: str) -> Manifest:
    """Finish it with such an agent."""
    make_agent(tmp_path, then)
    finish(folder, unfinished())
    return read(folder.path)


@pytest.mark.parametrize(
    ("then", "linked"),
    [(SUMMARY, True), ("echo broken >&2; exit 1", False)],
)
def test_what_links_is_in_a_ledger_while_it_runs(
    folder: RunFolder, tmp_path: Path, then: str, linked: bool
) -> None:
    manifest = finished(folder, tmp_path, then)
    _head, entry = map(json.loads, (tmp_path / "seen").read_text().splitlines())
    assert (entry["kind"], entry["what"]["program"]) == ("process", "tierlab-agent")
    assert accounts() == []
    assert not list((tmp_path / "state").rglob("*.jsonl"))
    assert (manifest.observation.costs == {"link": 7}) == linked
    assert ("broken" in manifest.not_measured.get("visits", "")) == (not linked)
    assert folder.unlinked.exists() == (not linked)


def test_visits_have_the_longer_to_be_linked_the_more_they_are(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of hours were given up after 900 s, again with each report."""
    monkeypatch.setattr(agent, "LINK_S", 0.1)
    monkeypatch.setattr(agent, "LINKED_A_SECOND", (folder.streams / RAW).stat().st_size / 30)
    manifest = finished(folder, tmp_path, f"sleep 1; {SUMMARY}")
    assert "visits" not in manifest.not_measured
    assert manifest.observation.costs == {"link": 7}


def test_visits_that_could_not_be_linked_are_kept_and_linked_later(
    folder: RunFolder, tmp_path: Path
) -> None:
    """They were removed with the other streams, though the error said what to mend."""
    raw = (folder.streams / RAW).read_bytes()
    half = 'echo half > "$5/visits.arrows"; echo broken >&2; exit 1'
    manifest = finished(folder, tmp_path, half)
    assert "broken" in manifest.not_measured["visits"]
    assert "`tierlab report` links it" in manifest.not_measured["visits"]
    assert not folder.is_unfinished
    assert not Run(folder.path).has("visits")
    events = (folder.path / "events.parquet").stat().st_mtime_ns

    conclusions = [folder.path / name for name in ("summary.json", "findings.json")]
    for each in conclusions:
        each.write_text("of a report without visits")
    complete(folder.path)
    assert (folder.unlinked / RAW).read_bytes() == raw
    assert all(each.exists() for each in conclusions)
    assert read(folder.path).not_measured["visits"] == manifest.not_measured["visits"]

    linked = tmp_path / "linked.arrows"
    write_rows(linked, "visits", [VISIT, VISIT | {"visit": 2, "parent": 1}])
    make_agent(tmp_path, f'cp {linked} "$5/visits.arrows"; {SUMMARY}')
    complete(folder.path)
    assert not any(each.exists() for each in conclusions)
    with Run(folder.path).connect() as db:
        assert db.execute("SELECT count(*) FROM visits").fetchall() == [(2,)]
    manifest = read(folder.path)
    assert "visits" not in manifest.not_measured
    assert manifest.observation.costs == {"link": 7}
    assert not folder.unlinked.exists()
    assert (folder.path / "events.parquet").stat().st_mtime_ns == events, "none but theirs was made"


def test_a_stream_without_a_visit_is_not_kept(folder: RunFolder, tmp_path: Path) -> None:
    """As of a trial that was killed before the first: nobody can ever link it."""
    (folder.streams / RAW).write_bytes(b"")
    manifest = finished(folder, tmp_path, "echo broken >&2; exit 1")
    assert "broken" in manifest.not_measured["visits"]
    assert "kept" not in manifest.not_measured["visits"]
    assert not folder.unlinked.exists()


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ({"machine": "another"}, "on host far"),
        ({"pid_namespace": 1}, "in another container of this machine"),
    ],
)
def test_another_machines_trial_is_not_finished_here(
    folder: RunFolder, place: dict[str, Any], where: str
) -> None:
    """Its process was looked for among this machine's, not found, and the running trial spoiled."""
    own: dict[str, Any] = {"machine": here().machine, "pid_namespace": here().pid_namespace}
    owner = Owner(pid=2**22 + 1, start=1, **(own | place))
    unfinished(owner=owner, host={"name": "far"}).write(folder.path)

    with pytest.raises(UserError, match=rf"is run {where} \(process {owner.pid}\)") as raised:
        complete(folder.path)

    assert "set `owner` in its manifest.json to null" in str(raised.value)
    assert read(folder.path).exit.state == "running"
    assert (folder.streams / RAW).exists()


@pytest.mark.parametrize("kept", [True, False])
def test_a_killed_trial_of_this_machine_is_finished(
    folder: RunFolder, tmp_path: Path, kept: bool
) -> None:
    """Also one from before it was kept where its process had its number."""
    place: dict[str, Any] = {}
    if kept:
        place = {"machine": here().machine, "pid_namespace": here().pid_namespace}
    make_agent(tmp_path, SUMMARY)
    unfinished(owner=Owner(pid=2**22 + 1, start=1, **place)).write(folder.path)
    complete(folder.path)
    assert read(folder.path).exit.state == "failed"


def test_what_a_kill_left_of_streams_being_removed_is_no_reason_to_start_over(
    folder: RunFolder,
) -> None:
    (folder.streams / "sample.events.arrows").write_bytes(b"cut")
    folder.streams.rename(folder.path / ".streams")
    complete(folder.path)
    assert {path.name for path in folder.path.iterdir()} == {"logs"}
