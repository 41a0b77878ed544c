"""What a server tells of itself, as far as a run says which servers can tell it."""

from __future__ import annotations

import pytest

from tierlab.tables import manifest as manifests

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


@pytest.mark.parametrize("kept", [{"is_database": True}, {}])
def test_a_database_or_what_may_be_one_has(tmp_path, kept):
    """Older folders do not say: whom others call and who calls nobody may be one."""
    (finding,) = two_tiers(tmp_path, **kept).findings
    assert "lock" in causes(finding)
    assert finding.confidence < 0.9
