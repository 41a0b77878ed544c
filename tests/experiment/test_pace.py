"""What users wait for between interactions: a think time or a cycle time, as the file or the
workload says, and what becomes of a workload's own delays.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tierlab.experiment.load import Load
from tierlab.trial.drivers import starts
from tierlab.workloads.kinds import WORKLOADS
from tierlab.workloads.sessions.delay import cycle, think, with_cycle, without_delays
from tierlab.workloads.static.workload import Static

S = 1_000_000_000


class Cycling(Static):
    """A workload whose users keep a cycle."""

    cycle_ns = 5 * S


@pytest.mark.parametrize(
    ("said", "of_static", "of_cycling"),
    [
        ({}, (7 * S, None), (None, 5 * S)),
        ({"think": "2s"}, (2 * S, None), (2 * S, None)),
        ({"cycle": "3s"}, (None, 3 * S), (None, 3 * S)),
    ],
)
def test_the_file_goes_before_the_workload(said, of_static, of_cycling) -> None:
    load = Load.model_validate({"users": 5} | said)
    for workload, expected in ((WORKLOADS["static"], of_static), (Cycling(), of_cycling)):
        pace = load.pace(workload)
        assert (pace.think_ns, pace.cycle_ns) == expected


def described() -> dict[str, Any]:
    states = [{"name": "a"}, {"name": "b", "delay": cycle(5 * S, 3 * S)}]
    return {"name": "x", "states": states, "delay": cycle(5 * S)}


def test_another_cycle_changes_all_delays_of_the_workload_in_proportion() -> None:
    found = with_cycle(described(), S)
    assert found["delay"] == cycle(S)
    assert found["states"][1]["delay"] == cycle(S, 3 * S // 5)
    assert "delay" not in found["states"][0]
    assert with_cycle(described(), 5 * S) == described()


def test_a_think_time_replaces_the_workloads_cycles() -> None:
    found = without_delays(described())
    assert "delay" not in found
    assert all("delay" not in state for state in found["states"])


def test_the_think_times_of_a_recording_are_its_own() -> None:
    recorded = {"name": "x", "states": [{"name": "a", "delay": think(S)}]}
    assert without_delays(recorded) == recorded


@pytest.mark.parametrize("start", ["staggered", "at once", "12s"])
def test_users_start_by_a_word_or_within_the_ramp_up(start: str) -> None:
    asked = {"users": 600, "start": start, "phases": {"ramp_up": "30s"}}
    load = Load.model_validate(asked)
    assert json.loads(load.model_dump_json(by_alias=True))["start"] == start
    rule = {"12s": {"every": {"gap_ns": 20_000_000}}}.get(start, start.replace(" ", "_"))
    assert load.start is not None
    assert starts(load.start, 600) == rule


@pytest.mark.parametrize(
    ("start", "says"),
    [
        ("31s", "must be within the ramp-up of 30s, not 31s"),
        ("soon", '"staggered", "at once" or a duration from "1ms" to "1h"'),
    ],
)
def test_a_start_that_cannot_be_is_one_sentence(start: str, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Load.model_validate({"users": 5, "start": start, "phases": {"ramp_up": "30s"}})
