"""All mistakes of a file are told at once, each once, with the levels that bring it about."""

from __future__ import annotations

from typing import Any

import pytest
from bad_values import GOOD, changed

from tierlab.errors import UserError
from tierlab.experiment import Experiment


def told(document: dict[str, Any]) -> list[str]:
    """The lines of what is said, the first without the file."""
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(document, "my.toml")
    first, *others = str(raised.value).splitlines()
    assert first.startswith("my.toml: ")
    return [first.removeprefix("my.toml: "), *others]


def keys(document: dict[str, Any]) -> list[str]:
    """The keys that are named."""
    count, *lines = told(document)
    assert count == f"{len(lines)} mistakes:"
    return [line.split()[0] for line in lines]


def test_each_is_a_line_and_a_misspelt_key_comes_first() -> None:
    document = changed("load.think", 7) | {"observe": {"interval": 1, "message": True}}

    count, misspelt, *others = told(document)

    assert count == "3 mistakes:"
    assert misspelt == (
        "  observe.message is not a known key (did you mean messages?); allowed here: "
        "interval, thread_interval, samplers, simulated_caches, calls, messages, system_calls, "
        "profile."
    )
    assert [line.split()[0] for line in others] == ["load.think", "observe.interval"]


def test_those_of_every_table_and_of_what_does_not_go_together() -> None:
    document = {
        "experiment": {"name": "a/b", "very_long": "soon"},
        "system": {
            "workload": "rubbos",
            "web": {"mpm": "worker", "soft": {"threads": -1, "treads": 2}},
            "app": {"soft": {"pool": 0}},
        },
        "load": {"users": 0, "rate": 5.0, "arrivals": "constant"},
        "factors": {"load.usrs": [1], "load.mix": [], "repeat": 0},
        "objective": {"p99": 5},
    }

    assert sorted(keys(document)) == [
        "experiment.name",
        "experiment.very_long",
        'factors."load.mix"',
        'factors."load.usrs"',
        "factors.repeat",
        "load",
        "load.users",
        "objective.p99",
        "system.app.soft.pool",
        "system.web.mpm",
        "system.web.soft.threads",
        "system.web.soft.treads",
    ]


def test_every_disturbance_and_change_that_finds_no_place_beside_a_mistake_elsewhere() -> None:
    document = GOOD | {
        "load": {"users": "many", "phases": {"ramp_up": "9s", "runtime": "10s"}},
        "disturb": [
            {"class": "freeze", "on": "db.1", "at": "20s", "duration": "100ms"},
            {"class": "freeze", "on": "db.4", "at": "2s", "duration": "100ms"},
        ],
        "change": [{"at": "11s", "on": "db.1", "weight": 512}],
    }

    assert keys(document) == ["load.users", "change[1].at", "disturb[1].at", "disturb[2].on"]


def test_a_level_is_named_once_whatever_it_is_crossed_with() -> None:
    document = GOOD | {
        "factors": {"load.users": [10, 0], "load.think": ["1s", "2s", "x"]},
        "objective": {"errors": 2},
    }

    lines = told(document)

    assert lines[0] == "3 mistakes:"
    assert [line.split(" must be")[0].strip() for line in lines[1:]] == [
        "objective.errors",
        'with load.think = "x": load.think',
        "with load.users = 0: load.users",
    ]
