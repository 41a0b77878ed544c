"""The DNU that a trial is planned to have, at its start and after its changes."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tierlab.deploy.degrees import degrees
from tierlab.experiment import Experiment
from tierlab.machine.hwloc import HOST

WEB = {"mapping": {"pus": [0], "weight": 1024}}
S = 1_000_000_000


def course(neighbours: dict[str, Any], *changes: dict[str, Any], web: Any = WEB) -> Any:
    document = {
        "experiment": {"name": "t"},
        "system": {"workload": "static", "web": web, "neighbours": neighbours},
        "load": {"users": 1},
        "change": list(changes),
    }
    (plan,) = Experiment.from_tables(document).trials()
    return degrees({"": plan.system}, plan.change, HOST)


def test_without_a_place_nothing_is_said() -> None:
    assert course({}, web={}) == {}


def test_one_pu_is_always_uniform() -> None:
    assert course({"count": 3, "place": "pu:0"}) == {"web.1": [(0, 0.0)]}


@pytest.mark.skipif(not os.sched_getaffinity(0) >= {0, 1}, reason="needs PUs 0 and 1")
def test_it_is_another_while_neighbours_rest() -> None:
    """With a, the server's share of the weights, it is (1 - a)^2 / (1 + a) while only one of two
    PUs is shared (equation 2)."""
    rest = [{"at": f"{at}s", "on": "neighbours", "vcpus": n} for at, n in ((6, 1), (12, 2))]
    place = {"count": 1, "vcpus": 2, "place": "pu:0-1", "weight": 3072}

    found = course(place, *rest, web={"mapping": {"place": "pu:0-1", "vcpus": 2}})

    assert found == {"web.1": [(0, 0.0), (6 * S, pytest.approx(0.75**2 / 1.25)), (12 * S, 0.0)]}
