"""A checkpoint is told from a disk that is busy otherwise."""

from __future__ import annotations

import pytest

from tierlab.diagnosis.catalogue import CATALOGUE

from . import made_stall
from .made_stall import STALL
from .signatures import diagnosed, pressed


def busy_disk(folder, usual, stalled):
    """A run in which the database waited for its disk; ``usual`` is what it told all the time, and
    ``stalled`` what it told in the stall.
    """
    samples = {"pressure": pressed("db.1", "io", 0.9)}
    made_stall.make(folder, "db.1", samples)
    rows = [
        row | (stalled if STALL[0] < row["t_ns"] <= STALL[1] else usual)
        for row in made_stall.read(folder, "database")
    ]
    made_stall.write(folder, "database", rows)
    return folder


@pytest.mark.parametrize(
    ("usual", "stalled"),
    [
        ({"checkpoints_running": 0}, {"checkpoints_running": 0}),
        ({"checkpoints_running": 1}, {"checkpoints_running": 1}),
        ({"pages_flushed": 10}, {"pages_flushed": 15}),
    ],
)
def test_a_busy_disk_beside_a_checkpoint_as_usual_is_no_checkpoint(tmp_path, usual, stalled):
    """One that is spread over minutes, and pages that are written in the background."""
    (found,) = diagnosed(busy_disk(tmp_path, usual, stalled)).findings
    assert (found.cause, found.subject) == ("disk", "db.1")
    assert found.confidence >= 0.9


def test_a_database_that_tells_no_checkpoint_leaves_it_open(tmp_path):
    """A run folder of before has neither column."""
    told = {"checkpoints_running": None, "pages_flushed": None}
    (found,) = diagnosed(busy_disk(tmp_path, told, told)).findings
    assert (found.cause, found.subject) == ("disk", "db.1")
    assert 0.4 <= found.confidence < 0.6


def test_what_a_database_writes_itself_is_nobody_else_s_disk(tmp_path, monkeypatch):
    """Where a checkpoint is not known of, it is an unknown stall and no busy disk."""
    others = tuple(each for each in CATALOGUE if each.name != "checkpoint")
    monkeypatch.setattr("tierlab.diagnosis.verdicts.CATALOGUE", others)
    run = busy_disk(tmp_path, {"checkpoints_running": 0}, {"checkpoints_running": 1})
    (found,) = diagnosed(run).findings
    assert (found.cause, found.subject) == ("unknown", "db.1")
