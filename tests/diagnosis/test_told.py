"""What a server tells of itself, as far as a run says which servers can tell it."""

from __future__ import annotations

import pytest

from tierlab.diagnosis.signals import Signals
from tierlab.diagnosis.told import sources, tells_locks
from tierlab.tables import manifest as manifests
from tierlab.tables.run import Run

from . import made_stall
from .made_stall import MS
from .signatures import PAUSE, diagnosed


def two_tiers(folder, **kept):
    """A collection at the last of two tiers, in a run without databases' counts."""
    samples = {"domain": [{"subject": "app.1", "cpu_ns": 50 * MS, "threads_stopped": 0}]}
    made_stall.make(folder, "app.1", samples, {"events": [PAUSE]})
    (folder / "database.parquet").unlink()
    there = {"web.1", "app.1"}
    visits = [row for row in made_stall.read(folder, "visits") if row["server"] in there]
    made_stall.write(folder, "visits", visits)
    known = manifests.read(folder)
    servers = {name: known.servers[name].model_copy(update=kept) for name in known.servers}
    servers = {name: part for name, part in servers.items() if name in there}
    known.model_copy(update={"servers": servers}).write(folder)
    return diagnosed(folder)


def causes(finding):
    return {each.cause for each in (*finding.ruled_out, *finding.not_ruled_out)}


def test_a_last_tier_that_is_no_database_has_no_locks_that_were_overlooked(tmp_path):
    """The answer was half as sure for locks that no such server has."""
    (finding,) = two_tiers(tmp_path, is_database=False, worker_threads=True).findings
    assert (finding.cause, finding.subject) == ("gc", "app.1")
    assert finding.confidence >= 0.9
    assert not causes(finding) & {"lock", "checkpoint", "cold_cache"}


@pytest.mark.parametrize(
    "kept", [{"is_database": True}, {}, {"is_database": False, "protocol": "mysql"}]
)
def test_a_database_or_what_may_be_one_has(tmp_path, kept):
    """Older folders do not say: whom others call and who calls nobody may be one. Of one that came
    as an image or by a command all was as sure as if it had been asked.
    """
    (finding,) = two_tiers(tmp_path, **kept).findings
    assert "lock" in causes(finding)
    assert finding.confidence < 0.9


def speaking(folder, **protocols):
    """A run whose servers are no databases that Tierlab set up, and of which web.1 alone counts."""
    rows = made_stall.read(made_stall.make(folder, None), "database")
    made_stall.write(folder, "database", [row | {"subject": "web.1"} for row in rows])
    known = made_stall.manifest()
    for part in known.servers.values():
        part.is_database = False
        part.protocol = protocols.get(part.tier, "http")
    known.write(folder)
    return Run(folder)


def test_who_speaks_as_a_database_is_one_unless_it_hands_that_on(tmp_path):
    run = speaking(tmp_path, lb="mysql", db="mysql")
    signals = Signals(run, run.connect())
    told = [name for name in run.manifest.servers if tells_locks(run, signals, name)]
    assert told == ["web.1", "db.1"]


@pytest.mark.parametrize(("protocol", "is_missed"), [("postgresql", True), ("http", False)])
def test_the_counts_of_a_database_that_nobody_asked_are_missed(tmp_path, protocol, is_missed):
    """Other answers were as sure as with them."""
    run = speaking(tmp_path, db=protocol)
    assert ("database" in sources(run.manifest)) == is_missed
