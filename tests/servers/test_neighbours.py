"""Neighbours on this machine: where they are, what they take, and that nothing is left of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest

from tierlab import experiment
from tierlab.deploy.neighbours import Neighbours
from tierlab.environments.native.native import Native
from tierlab.errors import UserError

pytestmark = [
    pytest.mark.alone,
    pytest.mark.privileged,
    pytest.mark.skipif(not os.sched_getaffinity(0) >= {0, 1}, reason="needs PUs 0 and 1"),
]
BOTH = "pu:0-1"
Make = Callable[..., Neighbours]


@pytest.fixture
def neighbours(native: Native) -> Iterator[Make]:
    """Start neighbours; they are gone at the end."""
    made: list[Neighbours] = []

    def make(**asked: Any) -> Neighbours:
        shape = experiment.System.of({"workload": "static", "neighbours": asked})
        made.append(Neighbours(shape, native))
        made[-1].start()
        return made[-1]

    yield make
    for each in made:
        each.stop()


def processes(native: Native, name: str) -> list[psutil.Process]:
    """A neighbour's virtual CPUs."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.cwd() == str(native.work / name):
                found.append(process)
    return sorted(found, key=lambda each: each.pid)


def used_s(process: psutil.Process) -> float:
    """CPU time over a stretch."""
    before = process.cpu_times()
    time.sleep(0.5)
    after = process.cpu_times()
    return after.user + after.system - before.user - before.system


def test_each_virtual_cpu_is_on_its_pu_and_busy(native: Native, neighbours: Make) -> None:
    neighbours(count=2, vcpus=2, place=BOTH, weight=512).check()

    there = [[p.cpu_affinity() for p in processes(native, f"neighbour.{n}")] for n in (1, 2)]
    assert there == [[[0], [1]]] * 2
    assert used_s(processes(native, "neighbour.1")[0]) > 0.01


def test_those_that_rest_take_nothing_until_they_compute_again(
    native: Native, neighbours: Make
) -> None:
    made = neighbours(count=1, vcpus=2, place=BOTH)

    assert made.occupy(1) == 1
    resting = processes(native, "neighbour.1")[1]
    assert resting.status() == psutil.STATUS_STOPPED
    assert used_s(resting) == 0
    assert made.occupy(2) == 2
    assert used_s(resting) > 0.01
    assert made.occupy(0) == 0
    made.check()


def test_one_that_ends_by_itself_is_named(native: Native, neighbours: Make) -> None:
    made = neighbours(count=1, vcpus=1, place="pu:0")
    (only,) = processes(native, "neighbour.1")
    only.kill()
    psutil.wait_procs([only], timeout=5)

    with pytest.raises(UserError, match=r"neighbour\.1 ended before the trial did"):
        made.check()
