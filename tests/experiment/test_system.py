"""`[system]`: which tiers there are, what they speak, and what cannot be together."""

from __future__ import annotations

from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.experiment.experiment import Experiment
from tierlab.experiment.plan import TrialPlan


def trial(system: dict[str, Any], **load: Any) -> TrialPlan:
    document = {
        "experiment": {"name": "e"},
        "system": {"workload": "rubis", **system},
        "load": {"users": 10, **load},
    }
    (plan,) = Experiment.from_tables(document, "my.toml").trials()
    return plan


@pytest.mark.parametrize(
    ("system", "spoken"),
    [
        ({}, {"web": "http", "app": "fcgi", "db": "postgresql"}),
        (
            {"web": {"server": "httpd"}, "db": {"server": "mariadb"}},
            {"web": "http", "app": "fcgi", "db": "mysql"},
        ),
        ({"web": {"server": "httpd-php"}}, {"web": "http", "db": "postgresql"}),
        (
            {"db": {"count": 3}},
            {"web": "http", "app": "fcgi", "lb": "postgresql", "db": "postgresql"},
        ),
        (
            {"workload": "rubbos", "web": {"connector": "http"}},
            {"web": "http", "app": "http", "lb": "mysql", "db": "mysql"},
        ),
    ],
)
def test_tiers_are_there_that_are_needed_and_speak_what_their_callers_do(
    system: dict[str, Any], spoken: dict[str, str]
) -> None:
    found = trial(system).system
    assert {name: protocol for name, (protocol, _) in found.protocols.items()} == spoken
    assert list(found.tiers) == list(spoken)


def test_a_workload_has_its_own_usual_mix() -> None:
    assert trial({}).load.mix == "bidding"
    assert trial({"workload": "rubbos"}).load.mix == "read-write"


def test_a_plan_as_a_file_has_only_its_own_tiers_and_is_the_same_plan() -> None:
    plan = trial({"web": {"server": "httpd-php"}, "db": {"server": "mariadb"}})
    file = plan.as_file()
    assert file["system"].keys() & {"web", "app", "lb", "db"} == {"web", "db"}
    (again,) = Experiment.from_tables(file).trials()
    assert again.system == plan.system


@pytest.mark.parametrize(
    ("system", "load", "sentence"),
    [
        (
            {},
            {"mix": "read-write"},
            'load.mix must be "browsing" or "bidding" with workload "rubis".',
        ),
        (
            {"workload": "rubbos", "db": {"server": "postgresql", "count": 2}},
            {},
            "system.db.count must be 1: nothing keeps the data of 2 servers of postgresql the same;"
            ' put "pgpool" in front of them.',
        ),
        (
            {"workload": "rubbos", "lb": {"server": "pgpool"}},
            {},
            "system.db.server cannot be mariadb, which speaks mysql: pgpool of system.lb does not"
            " call by that.",
        ),
        (
            {"web": {"server": "httpd-php"}, "app": {"count": 2}},
            {},
            "system.app is no tier of this system: httpd-php runs the pages itself; remove it.",
        ),
        (
            {"lb": {}},
            {},
            "system.lb is no tier of this system: there is one database; remove it.",
        ),
    ],
)
def test_what_cannot_be_together_is_one_sentence(
    system: dict[str, Any], load: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as raised:
        trial(system, **load)
    assert str(raised.value) == f"my.toml: {sentence}"


def test_a_lock_is_of_one_of_the_workloads_tables() -> None:
    document: dict[str, Any] = {
        "experiment": {"name": "e"},
        "system": {"workload": "rubis", "db": {"server": "mariadb"}},
        "load": {"users": 10},
    }
    lock = {"class": "lock", "table": "items"}
    assert Experiment.from_tables(document | {"disturb": [lock]}).trials()
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(document | {"disturb": [lock | {"table": "stories"}]}, "my.toml")
    assert str(raised.value) == (
        'my.toml: disturb[1].table must be "items", "bids" or "users" with workload "rubis".'
    )


@pytest.mark.parametrize(
    ("disturb", "intensity"),
    [
        ({"class": "lock"}, {"table": "items", "rows": 0}),
        ({"class": "lock", "table": "bids", "rows": 5}, {"table": "bids", "rows": 5}),
        ({"class": "pool"}, {"resource": "threads", "hold": None}),
        ({"class": "pool", "on": "db.1"}, {"resource": "max_connections", "hold": None}),
    ],
)
def test_locks_and_workers_can_be_held_on_rubis_usual_servers(
    disturb: dict[str, Any], intensity: dict[str, Any]
) -> None:
    (drawn,) = disturbed(disturb).trials()[0].disturb
    assert drawn.what.intensity == intensity


@pytest.mark.parametrize(
    ("system", "disturb", "sentence"),
    [
        (
            {},
            {"class": "pool", "on": "web.1"},
            'on for class pool must be "app.1" or "db.1" in this system, not "web.1".',
        ),
        (
            {"web": {"server": "httpd-php"}},
            {"class": "pool"},
            'on is missing; of this system it is "web.1" or "db.1".',
        ),
        (
            {},
            {"class": "pool", "on": "db.1", "resource": "threads"},
            'resource of db.1 must be "max_connections", not "threads".',
        ),
    ],
)
def test_what_cannot_be_held_is_refused_in_a_sentence(
    system: dict[str, Any], disturb: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError) as raised:
        disturbed(disturb, **system)
    assert str(raised.value) == f"my.toml: disturb[1].{sentence}"


def disturbed(disturb: dict[str, Any], **system: Any) -> Experiment:
    document = {
        "experiment": {"name": "e"},
        "system": {"workload": "rubis", **system},
        "load": {"users": 10},
        "disturb": [disturb],
    }
    return Experiment.from_tables(document, "my.toml")
