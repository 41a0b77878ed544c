"""Workload `kernels`: a server of jobs, placed and disturbed as any other."""

from __future__ import annotations

from typing import Any

import pytest

from tierlab.deploy.mapping import plan
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.workloads.kernels.jobs import MIXES, SIZES, size, users

MACHINE = "pack:2 numa:1 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)"


def experiment(**tables: Any) -> Experiment:
    document = {
        "experiment": {"name": "jobs"},
        "system": {"workload": "kernels"},
        "load": {"users": 1, "phases": {"ramp_up": "10s", "runtime": "60s"}},
    }
    return Experiment.from_tables(document | tables, "f.toml")


def test_its_servers_go_where_a_mapping_wants_them() -> None:
    place = {"place": "package:1.core:{n}", "weight": 512}
    system = {"workload": "kernels", "compute": {"count": 2, "mapping": place}}
    (trial,) = experiment(system=system).trials()

    found = plan(trial.system, MACHINE)

    assert [found[name].vcpus for name in ("compute.1", "compute.2")] == [(1,), (3,)]


def test_its_threads_are_a_factor_like_any_other() -> None:
    trials = experiment(factors={"system.compute.soft.job_threads": [1, 2, 4, 8]}).trials()

    assert [each.system.tiers["compute"].soft["job_threads"] for each in trials] == [1, 2, 4, 8]


@pytest.mark.parametrize("kind", ["cpu", "memory", "quota", "freeze", "pool", "burst", "loss"])
def test_it_is_disturbed_as_any_server(kind: str) -> None:
    disturb = [{"class": kind, "on": "compute.1", "at": "1s", "duration": "100ms"}]

    (trial,) = experiment(disturb=disturb).trials()

    assert [each.what.on for each in trial.disturb] == ["compute.1"]
    assert kind != "memory" or trial.system.tiers["compute"].memory is not None


def test_what_is_drawn_is_something_that_it_feels() -> None:
    (trial,) = experiment(disturb=[{"class": "random", "count": 9, "gap": "500ms"}]).trials()

    assert {each.what.on for each in trial.disturb} == {"compute.1"}
    assert not {each.what.class_ for each in trial.disturb} & {"lock", "gc", "restart", "disk"}


def test_what_it_has_not_is_not_disturbed() -> None:
    with pytest.raises(UserError, match=r'disturb\[1\]\.class cannot be "gc": no server here'):
        experiment(disturb=[{"class": "gc", "on": "compute.1", "at": "1s"}])


@pytest.mark.parametrize("mix", MIXES)
def test_a_mix_asks_for_its_kernels_in_the_size_of_the_scale(mix: str) -> None:
    described = users(mix, 0.01)

    assert {each["name"] for each in described["states"]} == (set(SIZES) if mix == "all" else {mix})
    for state in described["states"]:
        parameters = {each["name"]: each["from"] for each in state["parameters"]}
        assert parameters["size"] == {"constant": str(size(state["name"], 0.01))}
    # The work of a grid grows with the square of its side.
    assert size("barriers", 0.01) == SIZES["barriers"] / 10
    assert size("pipeline", 0.01) == SIZES["pipeline"] / 100
