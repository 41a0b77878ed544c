"""Neighbours on this machine: where they are, what they take, and that nothing is left of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import psutil
import pytest

from tests.pace import wait_until
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
    """CPU time so far."""
    used = process.cpu_times()
    return used.user + used.system


def computes(process: psutil.Process) -> None:
    """Wait until it has used some more CPU time: where others compute it gets little."""
    before = used_s(process)
    wait_until(lambda: used_s(process) > before, "the neighbour's computing")


def test_each_virtual_cpu_is_on_its_pu_and_busy(native: Native, neighbours: Make) -> None:
    neighbours(count=2, vcpus=2, place=BOTH, weight=512).check()

    there = [[p.cpu_affinity() for p in processes(native, f"neighbour.{n}")] for n in (1, 2)]
    assert there == [[[0], [1]]] * 2
    computes(processes(native, "neighbour.1")[0])


def test_those_that_rest_take_nothing_until_they_compute_again(
    native: Native, neighbours: Make
) -> None:
    made = neighbours(count=1, vcpus=2, place=BOTH)

    assert made.occupy(1) == 1
    resting = processes(native, "neighbour.1")[1]
    # It stops where it would have gone on, once it has its turn.
    wait_until(lambda: resting.status() == psutil.STATUS_STOPPED, "the rest")
    before = used_s(resting)
    time.sleep(0.5)
    assert used_s(resting) == before
    assert made.occupy(2) == 2
    computes(resting)
    assert made.occupy(0) == 0
    made.check()


def test_one_that_ends_by_itself_is_named(native: Native, neighbours: Make) -> None:
    made = neighbours(count=1, vcpus=1, place="pu:0")
    (only,) = processes(native, "neighbour.1")
    only.kill()
    psutil.wait_procs([only], timeout=5)

    with pytest.raises(UserError, match=r"neighbour\.1 ended before the trial did"):
        made.check()
