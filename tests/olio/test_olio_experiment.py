"""Olio in an experiment file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tierlab.deploy.needs import check_needs
from tierlab.environments.kinds import KINDS
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.workloads.olio.workload import Olio

CALLS = {
    "web": ("app",),
    "app": ("cache", "geocoder", "db"),
    "cache": (),
    "geocoder": (),
    "db": (),
}


def written(users: int, **system: Any) -> Experiment:
    tables = {
        "experiment": {"name": "t"},
        "system": {"workload": "olio", **system},
        "load": {"users": users},
    }
    return Experiment.from_tables(tables, "my.toml")


def test_its_tiers_call_each_other_by_their_protocols() -> None:
    (trial,) = written(25).trials()
    found = {tier: trial.system.callees(tier) for tier in trial.system.tiers}
    assert found == CALLS
    spoken = {tier: protocol for tier, (protocol, _) in trial.system.protocols.items()}
    assert spoken == {
        **{"web": "http", "app": "fcgi", "cache": "memcached"},
        **{"geocoder": "http", "db": "mysql"},
    }


@pytest.mark.parametrize(("users", "scale"), [(25, 0.0005), (25, 0.02), (50, 0.05)])
def test_more_users_than_the_data_is_for_are_refused(users: int, scale: float) -> None:
    written(users, scale=scale)
    with pytest.raises(UserError) as raised:
        written(users + 1, scale=scale)
    assert str(raised.value) == (
        f"my.toml: load.users must be at most {users}, for whom data of system.scale {scale:g} is,"
        f" not {users + 1}; raise the scale."
    )


def test_an_extension_that_is_missing_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (trial,) = written(25).trials()
    monkeypatch.setattr(Olio, "files", {tmp_path / "gd.so": "php8.2-gd"})
    with pytest.raises(UserError) as raised:
        check_needs(trial.system, KINDS["native"].probe())
    assert str(raised.value) == (
        f"{tmp_path}/gd.so is missing; install it with 'apt-get install php8.2-gd'."
    )
