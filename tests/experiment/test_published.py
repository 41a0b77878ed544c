"""The published reference and schema are current, and the schema agrees with the loader."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from bad_values import CASES, GOOD, changed
from experiment_files import FILES
from hypothesis import given
from jsonschema import Draft202012Validator

from tierlab.experiment import Experiment
from tierlab.experiment.catalogue import TABLES
from tierlab.experiment.publish import PAGE, SCHEMA, reference, schema
from tierlab.experiment.template import template
from tierlab.servers.image_options import SIGNAL

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
RENEW = "renew it: python -m tierlab.experiment.publish docs/reference"
VALIDATOR = Draft202012Validator(schema())
BEYOND_THE_SCHEMA = (
    "load.rate",
    "load.arrivals",
    "factors",
    "system.web.soft.threads_per_process",
    "system.web.soft.threads",
    "system.web.soft.keep_alive_timeout",
    "system.db.memory",
    "observe.interval",
    "load.phases.runtime",
)
"""Not said in JSON Schema: keys that go together, ranges of durations and sizes, factors."""


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())


def test_the_committed_files_are_current() -> None:
    assert json.loads((REFERENCE / SCHEMA).read_text()) == schema(), RENEW
    assert (REFERENCE / PAGE).read_text() == reference(), RENEW


def test_the_reference_names_every_key() -> None:
    sections = reference().split("\n## ")
    for table in TABLES.values():
        name = f"[{'.'.join(table.path)}]"
        own = "".join(section for section in sections if section.startswith(name))
        for key in table.keys:
            assert f"| `{key.path[-1]}` |" in own


@pytest.mark.parametrize("file", [GOOD, tomllib.loads(template("mine"))], ids=["short", "init"])
def test_what_loads_is_valid(file: dict[str, Any]) -> None:
    Experiment.from_tables(file)
    VALIDATOR.validate(file)


OWN: dict[str, Any] = {
    "experiment": {"name": "mine"},
    "system": {
        "workload": "own",
        "sessions": {"start": "/"},
        "web": {"command": "/bin/sleep 1", "port": 8000, "calls": ["cache", "db", "mail"]},
        "cache": {"server": "redis", "eviction": "allkeys-lru"},
        "db": {"server": "postgresql"},
        "mail": {"command": "/bin/sleep 1", "port": 25},
    },
    "load": {"users": 5},
}
"""Servers of a user's own, most of them named as other workloads' tiers are."""


def test_own_servers_are_valid_by_whatever_name() -> None:
    Experiment.from_tables(OWN)
    VALIDATOR.validate(OWN)


def test_own_servers_of_one_of_several_systems_are_valid() -> None:
    systems = [{"name": "shop", **OWN["system"], "load": {"users": 5}}]
    systems.append({"name": "forum", "workload": "rubbos", "load": {"users": 5}})
    file = {"experiment": {"name": "both"}, "system": systems}
    Experiment.from_tables(file)
    VALIDATOR.validate(file)


def test_other_workloads_tiers_stay_what_they_are() -> None:
    system = {"workload": "olio", "cache": {"server": "redis"}}
    assert not VALIDATOR.is_valid(OWN | {"system": system})
    assert VALIDATOR.is_valid(OWN | {"system": system | {"cache": {"server": "memcached"}}})


@given(FILES)
def test_whatever_loads_is_valid(file: dict[str, Any]) -> None:
    (plan,) = Experiment.from_tables(file).trials()
    VALIDATOR.validate(file)
    VALIDATOR.validate(plan.as_file())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (key, value)
        for key, value, sentence in CASES
        if not key.startswith(BEYOND_THE_SCHEMA)
        and "needs either" not in sentence
        and "goes without" not in sentence
        and "is said by" not in sentence
        and "NaN" not in sentence  # no JSON either
    ],
)
def test_what_does_not_load_is_not_valid(key: str, value: Any) -> None:
    assert not VALIDATOR.is_valid(changed(key, value))


@pytest.mark.parametrize(("said", "valid"), [("SIGINT", True), ("15", True), ("SIGINT 15", False)])
def test_a_pattern_of_alternatives_is_of_the_whole_text(said: str, valid: bool) -> None:
    """Its anchors were the first's and the last's: what began as the one was valid."""
    pattern = {"type": "string", "pattern": SIGNAL.json_schema()["pattern"]}
    assert Draft202012Validator(pattern).is_valid(said) is valid
