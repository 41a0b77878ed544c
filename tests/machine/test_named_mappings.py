"""Mappings that have a name, on made-up machines."""

from __future__ import annotations

import pytest

from tierlab.errors import UserError
from tierlab.machine import topology
from tierlab.machine.named_mappings import NAMED, seat

TWO = topology.read("pack:2 numa:1 l3:1 core:4 pu:2")
"""Two packages of four cores of two PUs: PUs 0 to 7 on the first."""
FOUR = {"web.1": 1, "app.1": 2, "lb.1": 1, "db.1": 4}


def numbers(name: str, vcpus: dict[str, int] = FOUR) -> dict[str, list[int]]:
    seating = seat(name, TWO, vcpus)
    return {domain: list(seats) for domain, seats in seating.items()}


def packages(name: str) -> set[int | None]:
    return {TWO.by_number[pu].package for seats in numbers(name).values() for pu in seats}


def test_one_package_takes_a_core_each_before_any_second_pu() -> None:
    assert numbers("one-package") == {
        "web.1": [0],
        "app.1": [2, 4],
        "lb.1": [6],
        "db.1": [1, 3, 5, 7],
    }
    assert packages("one-package") == {0}


def test_two_packages_alternate() -> None:
    assert numbers("two-packages")["db.1"] == [4, 12, 6, 14]
    assert packages("two-packages") == {0, 1}


def test_one_l3_stays_below_one_cache() -> None:
    split = topology.read("pack:1 l3:2 core:2 pu:1")

    seats = seat("one-l3", split, {"a": 2, "b": 2})

    assert {split.by_number[pu].l3 for vcpus in seats.values() for pu in vcpus} == {0}


def test_own_cores_are_nobody_else_s() -> None:
    seating = seat("own-cores", TWO, FOUR)
    cores = [TWO.by_number[pu].core for seats in seating.values() for pu in seats]

    assert len(set(cores)) == sum(FOUR.values())
    with pytest.raises(UserError, match=r"own-cores: 9 vCPUs need 9 cores and this machine has 8"):
        seat("own-cores", TWO, FOUR | {"more": 1})


def test_one_apart_has_its_own_cores_and_the_others_share_the_rest() -> None:
    seats = numbers("one-apart", {"a": 4, "b": 4, "c": 2})
    cores = {name: {TWO.by_number[pu].core for pu in pus} for name, pus in seats.items()}

    assert not cores["c"] & (cores["a"] | cores["b"])
    assert len(cores["a"] | cores["b"]) == 6
    with pytest.raises(UserError, match="leaves none for the others"):
        numbers("one-apart", {"a": 1, "b": 8})


def test_a_machine_with_one_package_is_not_spread_over_two() -> None:
    with pytest.raises(UserError, match="this machine has one package"):
        seat("two-packages", topology.read("pack:1 core:4 pu:1"), FOUR)


def test_a_name_that_is_none_names_those_that_are() -> None:
    with pytest.raises(UserError, match=", ".join(NAMED)):
        seat("everywhere", TWO, FOUR)
