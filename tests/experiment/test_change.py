"""`[[change]]`: what is read, and what is refused in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.experiment import Experiment

HOSTS = ("second", "first")


def trial(*changes: dict[str, Any], disturb: Sequence[Any] = (), **system: Any) -> Any:
    document = {
        "experiment": {"name": "changed"},
        "system": {"workload": "rubbos"} | system,
        "load": {"users": 1},
        "disturb": list(disturb),
        "change": list(changes),
    }
    (only,) = Experiment.from_tables(document, "f.toml").trials()
    return only


def test_changes_come_in_order_of_time_and_are_kept_in_the_plan() -> None:
    later = {"at": "20s", "on": "db.1", "memory": "1GiB"}
    sooner = {"at": "10s", "on": "app.1", "pool": 5}

    plan = trial(later, sooner)

    assert [(each.on, each.at_ns) for each in plan.change] == [
        ("app.1", 10_000_000_000),
        ("db.1", 20_000_000_000),
    ]
    assert plan.change[0].soft == {"pool": 5}
    assert plan.as_file()["change"] == [sooner, later]


def test_a_server_that_moves_must_be_elsewhere_before() -> None:
    there, back = ({"at": f"{at}s", "on": "app.1", "host": host} for at, host in enumerate(HOSTS))

    assert [each.host for each in trial(there, back).change] == list(HOSTS)
    with pytest.raises(UserError, match=r"change\[3\]\.host .*: by then it is on first"):
        trial(there, back, back | {"at": "20s"})


STEALS = (
    {"class": "steal", "on": "db.1", "at": "20s"},
    {"class": "random", "classes": ["gc", "steal"], "subjects": ["app.1", "db.1"]},
)


@pytest.mark.parametrize("steal", STEALS)
@pytest.mark.parametrize("place", [{"pus": [0]}, {"place": "pu:0"}, {"host": "second"}])
def test_a_server_that_is_stolen_from_stays_beside_who_steals(
    steal: dict[str, Any], place: dict[str, Any]
) -> None:
    lighter = {"at": "1s", "on": "db.1", "weight": 30}
    elsewhere = {"at": "2s", "on": "db.1"} | place
    there = {"environment": "xen", "workload": "rubbos"}

    assert len(trial(lighter, disturb=[steal], **there).change) == 1
    (key,) = place
    with pytest.raises(UserError, match=rf"change\[2\]\.{key} moves db\.1 away from the neighb"):
        trial(lighter, elsewhere, disturb=[steal], **there)
    assert trial(elsewhere | {"on": "web.1"}, disturb=[steal], **there).change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"on": "web.1", "weight": 30}, r"change\[1\]\.at is missing"),
        ({"at": "1s", "on": "web.1"}, r"change\[1\] changes nothing; give it one of pus, place"),
        ({"at": "1s", "on": "web.1", "wieght": 30}, r"change\[1\]\.wieght is not a known key"),
        ({"at": "60s", "on": "web.1", "weight": 30}, r"change\[1\]\.at must be within the runtime"),
        (
            {"at": "1s", "on": "db.2", "weight": 30},
            r"change\[1\]\.on must be .*: system\.db\.count is 1",
        ),
        ({"at": "1s", "on": "db.1", "pool": 3}, r"change\[1\]\.pool is no soft resource that db.1"),
        ({"at": "1s", "on": "db.1", "host": "third"}, r"change\[1\]\.host must be .*first.*second"),
        (
            {"at": "1s", "on": "db.1", "host": "first"},
            r"change\[1\]\.host must be a host that db.1",
        ),
        (
            {"at": "1s", "on": "db.1", "pus": [0], "place": "core:0"},
            r"change\[1\]\.place says the PUs twice",
        ),
    ],
)
def test_a_mistake_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        trial(change)


def test_neighbours_rest_and_compute_again() -> None:
    rest = {"at": "10s", "on": "neighbours", "vcpus": 1}

    plan = trial(rest, neighbours={"count": 1, "vcpus": 2})

    assert plan.change[0].vcpus == 1
    assert plan.as_file()["change"] == [rest]


@pytest.mark.parametrize(
    ("change", "system", "sentence"),
    [
        ({"on": "neighbours", "vcpus": 1}, {}, r"change\[1\]\.on goes with system\.neighbours"),
        (
            {"on": "neighbours", "vcpus": 3},
            {"neighbours": {"count": 2, "vcpus": 2}},
            r"change\[1\]\.vcpus must be at most 2",
        ),
        (
            {"on": "neighbours", "weight": 30},
            {"neighbours": {"count": 2}},
            r"change\[1\]\.weight is nothing that is changed of neighbours",
        ),
        (
            {"on": "web.1", "vcpus": 1},
            {},
            r"change\[1\]\.vcpus is nothing that is changed of web\.1",
        ),
        (
            {"on": "db.1", "weight": 30},
            {"workload": "static"},
            r'change\[1\]\.on must be "web\.1" or "neighbours" in this system, not "db\.1"',
        ),
    ],
)
def test_what_cannot_be_changed_of_neighbours_or_without_them_is_one_sentence(
    change: dict[str, Any], system: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        trial({"at": "1s"} | change, **system)
