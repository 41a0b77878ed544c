"""Finishing a trial: the linking process is accounted for like every other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tierlab.environments.ledger import accounts, ledger_folder
from tierlab.tables.folder import RunFolder, create
from tierlab.tables.manifest import Manifest, read
from tierlab.trial.complete import complete
from tierlab.trial.finish import finish

AGENT = """#!/bin/sh
cat {ledgers}/*.jsonl > {seen}
{then}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """A run folder with visits that are still to be linked."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("TIERLAB_AGENT", str(tmp_path / "tierlab-agent"))
    made = create(tmp_path, "e")
    (made.streams / "raw_visits.arrows").touch()
    return made


def finished(folder: RunFolder, tmp_path: Path, then: str) -> Manifest:
    """Finish it with an agent that keeps what the ledgers say and then ends as told."""
    agent = tmp_path / "tierlab-agent"
    agent.write_text(AGENT.format(ledgers=ledger_folder(), seen=tmp_path / "seen", then=then))
    agent.chmod(0o755)
    manifest = Manifest(
        experiment="e", trial="001", environment="native", workload="rubbos", created_ns=0
    )
    finish(folder, manifest)
    return read(folder.path)


@pytest.mark.parametrize(
    ("then", "linked"),
    [("""echo '{"summary":{"cpu_ns":7}}'""", True), ("echo broken >&2; exit 1", False)],
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


def test_what_a_kill_left_of_streams_being_removed_is_no_reason_to_start_over(
    folder: RunFolder,
) -> None:
    (folder.streams / "sample.events.arrows").write_bytes(b"cut")
    folder.streams.rename(folder.path / ".streams")
    complete(folder.path)
    assert {path.name for path in folder.path.iterdir()} == {"logs"}
