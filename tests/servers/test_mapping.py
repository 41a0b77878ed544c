"""From keys of the experiment file to PUs, on machines that are made up."""

from __future__ import annotations

from typing import Any

import pytest

from tierlab import experiment
from tierlab.deploy.mapping import plan
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats

MACHINE = "pack:2 numa:1 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)"


def shape(**keys: Any) -> experiment.System:
    return experiment.System.of({"workload": "rubbos", **keys})


def test_a_place_is_on_the_machine_s_package_whatever_linux_calls_its_pus() -> None:
    found = plan(shape(db={"mapping": {"place": "package:0.core:0-3"}}), MACHINE)

    assert found["db.1"] == Seats((0, 2, 4, 6))
    assert set(found) == {"db.1"}, "the others may run everywhere"


def test_instances_of_a_tier_take_places_by_their_number() -> None:
    place = {"place": "package:1.core:{n}", "weight": 256, "memory_node": 1}

    found = plan(shape(db={"count": 4, "mapping": place}), MACHINE)

    assert [found[f"db.{n}"].vcpus for n in (1, 2, 3, 4)] == [(1,), (3,), (5,), (7,)]
    assert found["db.4"].weight == 256
    assert found["db.4"].nodes == {1}


def test_vcpus_take_the_first_pus_of_the_place() -> None:
    found = plan(shape(app={"mapping": {"place": "package:0", "vcpus": 2}}), MACHINE)

    assert found["app.1"].vcpus == (0, 2)


def test_vcpus_have_a_core_each_while_they_last() -> None:
    asked = shape(app={"mapping": {"place": "package:0", "vcpus": 3}})

    assert plan(asked, "pack:1 core:2 pu:2")["app.1"].vcpus == (0, 2, 1)


def test_a_place_of_the_system_is_every_servers_that_has_none_of_its_own() -> None:
    own = {"web": {"mapping": {"pus": [7]}}, "app": {"mapping": {"vcpus": 1}}}
    own |= {"db": {"mapping": {"place": "package:1.core:{n}"}}}

    found = plan(shape(place="package:0.core:0-1", **own), MACHINE)

    assert {name: seats.vcpus for name, seats in found.items()} == {
        "web.1": (7,),
        "app.1": (0,),
        "lb.1": (0, 2),
        "db.1": (1,),
    }


def test_a_named_mapping_seats_every_server() -> None:
    found = plan(shape(mapping="two-packages", app={"mapping": {"vcpus": 2}}), MACHINE)

    assert {name: seats.vcpus for name, seats in found.items()} == {
        "web.1": (0,),
        "app.1": (1, 2),
        "lb.1": (3,),
        "db.1": (4,),
    }


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"db": {"mapping": {"place": "package:4"}}}, r"^system\.db\.mapping\.place: 'package:4'"),
        ({"place": "package:4"}, r"^system\.place: 'package:4'"),
        ({"db": {"mapping": {"pus": [9]}}}, r"^system\.db\.mapping\.pus: machine .* has no PU 9;"),
        (
            {"db": {"mapping": {"pus": [1], "memory_node": 5}}},
            r"^system\.db\.mapping\.memory_node: machine .* has no NUMA node 5; choose among 0, 1",
        ),
        (
            {"mapping": "own-cores", "app": {"mapping": {"vcpus": 6}}},
            r"^system\.mapping: mapping own-cores: 9 vCPUs need 9 cores",
        ),
    ],
)
def test_a_machine_that_is_too_small_is_a_sentence_with_the_key(
    keys: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        plan(shape(**keys), MACHINE)


def test_neighbours_take_one_pu_of_their_place_after_the_other() -> None:
    asked = {"count": 2, "vcpus": 3, "place": "package:0.core:0-1", "weight": 256}

    found = plan(shape(neighbours=asked), MACHINE)

    assert found == {f"neighbour.{n}": Seats((0, 2, 0), weight=256) for n in (1, 2)}


def test_neighbours_that_are_nowhere_are_named_by_their_key() -> None:
    with pytest.raises(UserError, match=r"system\.neighbours\.place: 'core:99' is no place"):
        plan(shape(neighbours={"count": 1, "place": "core:99"}), MACHINE)
