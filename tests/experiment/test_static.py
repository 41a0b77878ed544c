"""Workload `static`: the web server alone."""

from __future__ import annotations

from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.experiment import Experiment


def experiment(system: dict[str, Any], **tables: Any) -> Experiment:
    document = {
        "experiment": {"name": "page"},
        "system": {"workload": "static"} | system,
        "load": {"users": 1},
    }
    return Experiment.from_tables(document | tables, "f.toml")


def test_it_has_one_tier_and_its_plan_is_a_file_that_runs_again() -> None:
    (plan,) = experiment({"web": {"mpm": "prefork"}}).trials()

    (again,) = Experiment.from_tables(plan.as_file()).trials()

    assert list(plan.system.tiers) == ["web"]
    assert again.system == plan.system


def test_a_tier_that_it_has_not_is_refused() -> None:
    with pytest.raises(UserError, match=r'system\.db is no tier of workload "static"; remove it'):
        experiment({"db": {"count": 2}})


def test_its_server_is_disturbed_like_any_other_and_only_it() -> None:
    (plan,) = experiment({}, disturb=[{"class": "burst"}, {"class": "random"}]).trials()

    assert {each.what.on for each in plan.disturb} == {"web.1"}
    with pytest.raises(UserError, match=r'disturb\[1\]\.class cannot be "lock": no server here'):
        experiment({}, disturb=[{"class": "lock"}])


def test_a_mix_is_another_workloads_and_its_plan_has_none() -> None:
    """It was taken and did nothing: two trials alike were compared as different."""
    with pytest.raises(UserError) as raised:
        experiment({}, load={"users": 1, "mix": "browse-only"})
    assert str(raised.value) == (
        'f.toml: load.mix goes with a workload that has mixes, and "static" has none; remove it.'
    )
    (plan,) = experiment({}).trials()
    assert "mix" not in plan.as_file()["load"]
