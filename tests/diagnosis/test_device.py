"""A virtual disk that stands still by nobody's doing is left out of the proof, and counted."""

from __future__ import annotations

import device
import pytest
from truth import Injected

from tierlab.diagnosis import Diagnosis
from tierlab.diagnosis.finding import Window

from . import made_stall
from .made_stall import MS, STALL
from .signatures import SIGNATURES, diagnosed
from .test_calibration import finding

STILL = [{"subject": "vda", "in_flight": 3}]
STOOD = Window(start_ns=STALL[0], end_ns=STALL[1])


def only(told):
    return Diagnosis(verdict="findings", words="", findings=[told], missing={})


def folder(tmp_path, disk):
    _, subject, samples, extra = SIGNATURES["disk"]
    return made_stall.make(tmp_path, subject, samples | {"disk": disk}, extra)


@pytest.mark.parametrize(
    "disk",
    [
        STILL,
        [{"subject": "vda", "writes": 6, "write_time_ns": 142 * MS}],
        [{"subject": "vda", "reads": 28, "read_time_ns": 680 * MS, "writes": 6}],
    ],
)
def test_a_disk_that_stands_still_is_seen_in_the_devices_counters(tmp_path, disk):
    run = folder(tmp_path, disk)
    diagnosis, left_out = device.without(diagnosed(run), device.slow_ticks(run), [])
    assert (len(left_out), diagnosis.findings) == (1, [])


@pytest.mark.parametrize("cause", ["disk", "memory"])
def test_what_was_injected_into_the_disk_stays(tmp_path, cause):
    run = folder(tmp_path, STILL)
    told = diagnosed(run)
    true = [Injected(1, cause, "db.1", *STALL, delayed=9, held=9)]
    assert device.without(told, device.slow_ticks(run), device.users(true)) == (told, [])


def test_a_disk_that_worked_is_no_excuse(tmp_path):
    run = folder(tmp_path, [{"subject": "vda", "writes": 900, "write_time_ns": 900 * MS}])
    told = diagnosed(run)
    assert device.without(told, device.slow_ticks(run), []) == (told, [])


def test_only_windows_that_are_told_of_the_disk_are_left_out():
    told = finding("lock", "db", STALL[0] // MS)
    assert not device.without(only(told), [STOOD], [])[1]
    several = finding("disk", "db", STALL[0] // MS, STALL[0] // MS + 5_000)
    diagnosis, left_out = device.without(only(several), [STOOD], [])
    assert left_out == several.windows[:1]
    assert [each.windows for each in diagnosis.findings] == [several.windows[1:]]
