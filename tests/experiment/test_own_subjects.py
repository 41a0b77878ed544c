"""The servers of a user's own system are disturbed and changed by their own names."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.experiment.publish import schema

VALIDATOR = Draft202012Validator(schema())
PROGRAM = "/bin/sleep 1"
OWN: dict[str, Any] = {
    "experiment": {"name": "own"},
    "system": {
        "workload": "own",
        "front": {"command": PROGRAM, "port": 8000, "calls": ["shop"]},
        "shop": {"command": PROGRAM, "port": 3000, "calls": ["store", "session"], "count": 2},
        "store": {"server": "postgresql"},
        "session": {"server": "redis"},
        "sessions": {"start": "/welcome"},
    },
    "load": {"users": 5, "phases": {"ramp_up": "5s", "runtime": "60s"}},
}


def trial(**events: Any) -> TrialPlan:
    document = OWN | {name: [table] for name, table in events.items()}
    VALIDATOR.validate(document)
    (plan,) = Experiment.from_tables(document, "my.toml").trials()
    return plan


@pytest.mark.parametrize(
    "table",
    [
        {"class": "freeze", "on": "shop.2"},
        {"class": "quota", "on": "front.1"},
        {"class": "network", "on": "session.1"},
        {"class": "burst", "on": "front.1"},
        {"class": "lock", "on": "store.1", "table": "orders"},
        {"class": "memory", "on": "store.1"},
        {"class": "pool", "on": "store.1"},
        {"class": "pool", "on": "session.1"},
    ],
)
def test_any_server_is_disturbed_by_what_its_software_takes(table: dict[str, str]) -> None:
    (drawn,) = trial(disturb=table).disturb
    assert (drawn.what.class_, drawn.what.on) == (table["class"], table["on"])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            {"class": "freeze"},
            'on is missing; of this system it is "front.1", "shop.1", "shop.2", "store.1" or'
            ' "session.1".',
        ),
        (
            {"class": "checkpoint", "on": "shop.1"},
            'on for class checkpoint must be "store.1" in this system, not "shop.1".',
        ),
        (
            {"class": "freeze", "on": "front.2"},
            'on for class freeze must be "front.1", "shop.1", "shop.2", "store.1" or "session.1" in'
            ' this system, not "front.2": system.front.count is 1.',
        ),
        ({"class": "gc"}, 'class cannot be "gc": no server here takes that.'),
        (
            {"class": "lock", "on": "store.1"},
            "table is missing: which table pages need is not known here.",
        ),
        (
            {"class": "memory", "on": "front.1"},
            'on of "front.1" needs system.front.memory, as nobody else knows how much it takes.',
        ),
        (
            {"class": "random", "subjects": ["shp.1"]},
            'subjects must be out of front.1, shop.1, shop.2, store.1, session.1, not "shp.1".',
        ),
    ],
)
def test_what_cannot_be_is_one_sentence_with_what_may_be(
    table: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as raised:
        trial(disturb=table)
    assert str(raised.value) == f"my.toml: disturb[1].{sentence}"


def drawn(seed: int, **keys: Any) -> set[tuple[str, str]]:
    table = {"class": "random", "count": 12, "gap": "10ms", "longest": "60ms"} | keys
    document = OWN | {"experiment": {"name": "own", "seed": seed}, "disturb": [table]}
    (plan,) = Experiment.from_tables(document).trials()
    return {(each.what.class_, each.what.on) for each in plan.disturb}


def test_what_is_drawn_is_felt_there_and_a_lock_only_of_tables_that_are_said() -> None:
    found = {each for seed in range(5) for each in drawn(seed)}
    assert {kind for kind, _ in found} == {
        *("memory", "cpu", "disk", "freeze", "burst", "network", "loss", "quota", "weight"),
        *("checkpoint", "cold_cache"),
    }
    assert {on for kind, on in found if kind == "burst"} == {"front.1"}
    assert {on for kind, on in found if kind == "disk"} == {"store.1"}
    assert drawn(1, classes=["lock"], tables=["orders"]) == {("lock", "store.1")}


def test_its_servers_are_changed_by_their_names() -> None:
    weight = {"at": "10s", "on": "shop.2", "weight": 512}
    assert trial(change=weight).change[0].on == "shop.2"
    with pytest.raises(UserError, match=r'"store\.1", "session\.1" or "neighbours" in this system'):
        trial(change=weight | {"on": "db.1"})


def test_what_runs_already_is_left_alone() -> None:
    standing = {"address": "127.0.0.1", "port": 8000}
    front = {"environment": "host", "front": standing | {"calls": ["shop"]}}
    document = OWN | {"system": OWN["system"] | front}
    with pytest.raises(
        UserError, match=r'must be "shop\.1", "shop\.2", "store\.1" or "session\.1"'
    ):
        Experiment.from_tables(document | {"disturb": [{"class": "freeze", "on": "front.1"}]})


def test_mixes_are_no_levels_of_what_has_none() -> None:
    """Trials alike were compared as different."""
    factors = {"load.mix": ["browse-only", "author"]}
    with pytest.raises(UserError, match=r'load\.mix goes with a workload .*"own" has none'):
        Experiment.from_tables(OWN | {"factors": factors}, "my.toml")
