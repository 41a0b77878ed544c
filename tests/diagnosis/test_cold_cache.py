"""A cold cache is told from a busy disk, from memory that is short, and from a checkpoint."""

from __future__ import annotations

import pytest

from tierlab.diagnosis import verdicts
from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.diagnosis.merge import UNKNOWN

from . import made_stall
from .made_stall import MS, STALL
from .signatures import diagnosed, pressed

READS = {"data_reads": 100}
FROM_DISK = {"bytes_read": 1 << 20}


def waiting(folder, database, domain):
    """A run in which the database waited for its disk, and what it and its domain told of that."""
    samples = {
        "pressure": pressed("db.1", "io", 0.9),
        "database": [{"subject": "db.1"} | database],
        "domain": [{"subject": "db.1"} | domain],
    }
    made_stall.make(folder, "db.1", samples)
    return folder


def told(folder):
    (found,) = diagnosed(folder).findings
    assert found.subject == "db.1"
    return found


@pytest.mark.parametrize(
    ("database", "domain"),
    [({}, FROM_DISK), (READS, {})],
    ids=["another job reads", "the kernel has the pages"],
)
def test_who_reads_from_the_disk_and_what_for_tells_it_from_a_busy_one(tmp_path, database, domain):
    found = told(waiting(tmp_path, database, domain))
    assert found.cause == "disk"
    assert found.confidence >= 0.9


def test_a_database_that_reads_as_much_as_ever_has_no_cold_cache(tmp_path):
    waiting(tmp_path, {}, {})
    for table, columns in (("database", READS), ("domain", FROM_DISK)):
        made_stall.write(
            tmp_path, table, [row | columns for row in made_stall.read(tmp_path, table)]
        )
    assert told(tmp_path).cause == "disk"


def test_pages_that_had_been_reclaimed_are_no_cold_cache(tmp_path):
    found = told(waiting(tmp_path, READS, FROM_DISK | {"refaults": 1_000}))
    assert found.cause == "memory"


def test_changed_pages_that_are_written_to_make_room_are_no_checkpoint(tmp_path):
    found = told(waiting(tmp_path, READS | {"pages_flushed": 60}, FROM_DISK))
    assert found.cause == "cold_cache"
    assert found.confidence >= 0.9


def test_pages_that_are_told_a_second_later_were_missed_in_the_stall(tmp_path):
    """PostgreSQL's sessions do not tell before."""
    late = STALL[1] + 950 * MS
    waiting(tmp_path, {}, FROM_DISK)
    rows = made_stall.read(tmp_path, "database")
    (row,) = [row for row in rows if row["t_ns"] - row["dt_ns"] < late <= row["t_ns"]]
    row["data_reads"] = 600
    made_stall.write(tmp_path, "database", rows)
    assert told(tmp_path).cause == "cold_cache"


def test_few_pages_that_many_wait_for_are_a_cold_cache_on_a_slow_disk(tmp_path):
    waiting(tmp_path, READS, {})
    rows = made_stall.read(tmp_path, "database")
    rows = [row | {"pending_reads": 9 if row["data_reads"] else 0} for row in rows]
    made_stall.write(tmp_path, "database", rows)
    assert told(tmp_path).cause == "cold_cache"


def test_a_database_that_tells_no_reads_leaves_it_open(tmp_path):
    waiting(tmp_path, {}, FROM_DISK)
    rows = [row | {"data_reads": None} for row in made_stall.read(tmp_path, "database")]
    made_stall.write(tmp_path, "database", rows)
    found = told(tmp_path)
    assert found.cause == "disk"
    assert 0.4 <= found.confidence < 0.6


@pytest.mark.parametrize(
    "beside",
    [{}, {"pages_flushed": 60}, {"table_lock_waiting": 9}],
    ids=["reads alone", "and makes room", "and holds locks meanwhile"],
)
def test_without_its_class_a_cold_cache_has_no_other_name(tmp_path, monkeypatch, beside):
    """It was a checkpoint of MariaDB's or a busy disk, seven times of seven; and a lock, twice of
    eight.
    """
    others = tuple(each for each in CATALOGUE if each.name != "cold_cache")
    monkeypatch.setattr(verdicts, "CATALOGUE", others)
    found = told(waiting(tmp_path, READS | beside, FROM_DISK))
    assert found.cause == UNKNOWN
