"""Limits that a disturbance needs: where the file gives none, and as any other limit."""

from __future__ import annotations

from typing import Any

import pytest
from bad_values import GOOD

from tierlab.experiment import Experiment, System
from tierlab.values.quantities import MIB


def system(*disturb: dict[str, Any], **tiers: Any) -> System:
    document = GOOD | {"system": {"workload": "rubbos"} | tiers, "disturb": list(disturb)}
    return Experiment.from_tables(document).trials()[0].system


def test_nothing_is_limited_that_need_not_be() -> None:
    assert system({"class": "freeze"}, {"class": "cpu"}) == system()


def test_a_memory_that_is_to_thrash_gets_a_limit_and_the_disk_below_it_too() -> None:
    disturbed = system({"class": "memory", "on": "db.1"})

    assert disturbed.db.memory == disturbed.db.soft["buffer_pool"] + 128 * MIB
    assert disturbed.db.disk.reads is not None
    assert disturbed.db.disk.writes is None
    assert disturbed.web == system().web


@pytest.mark.parametrize("kind", ["disk", "checkpoint"])
def test_a_disk_that_is_to_be_used_up_gets_a_limit(kind: str) -> None:
    disturbed = system({"class": kind, "on": "db.1"})

    assert disturbed.db.disk.writes is not None
    assert disturbed.db.memory is None


def test_a_cache_that_is_to_be_cold_gets_a_limit_on_reads() -> None:
    disturbed = system({"class": "cold_cache"})

    assert disturbed.db.disk.reads is not None
    assert disturbed.db.disk.writes is None
    assert disturbed.db.memory is None


def test_what_the_file_says_stays() -> None:
    limits = {"memory": "1GiB", "disk": {"writes": "1MiB", "reads": 50}}
    memory, disk = {"class": "memory"}, {"class": "disk"}

    assert system(memory, disk, db=limits) == system(db=limits)


def test_room_follows_the_heap() -> None:
    memory = {"class": "memory", "on": "app.1"}
    small, large = (system(memory, app={"heap": heap}).app.memory for heap in ("128MiB", "256MiB"))

    assert small is not None
    assert large == small + 128 * MIB
