"""What a disturbance alters of a server's placement is no fault that ends the trial."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.deploy.system import System
from tierlab.environments.addresses import LOOPBACK
from tierlab.environments.capability import Probe
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.trial.disturb_plan import altered_by

MIB = 1 << 20
PROBE = Probe("native", frozenset(), {}, frozenset({0}), 1 << 34, frozenset({0}))


def disturbed(*classes: str) -> TrialPlan:
    tables = {
        "experiment": {"name": "e"},
        "system": {"workload": "rubbos", "db": {"memory": "512MiB", "mapping": {"weight": 2048}}},
        "load": {"users": 1, "phases": {"runtime": "60s"}},
        "disturb": [{"class": each, "on": "db.1"} for each in classes],
    }
    return Experiment.from_tables(tables).trials()[0]


def standing(plan: TrialPlan, found: Placement, folder: Path) -> System:
    """Its system with one server, whose placement reads back so."""
    environment: Any = SimpleNamespace(addresses=LOOPBACK, probe=lambda: PROBE, work=folder)
    content: Any = None
    system = System(plan.system, content, environment, folder, altered=altered_by(plan.disturb))
    domain: Any = SimpleNamespace(
        spec=DomainSpec("db.1", Placement(weight=2048, memory=512 * MIB)), read_back=lambda: found
    )
    domain.verify = lambda asked: Domain.verify(domain, asked)
    server = SimpleNamespace(site=SimpleNamespace(domain=domain))
    instance: Any = SimpleNamespace(server=server, check=lambda: None)
    system._instances.append(instance)
    return system


@pytest.mark.parametrize(
    ("classes", "found"),
    [
        (["weight"], Placement(weight=16, memory=512 * MIB)),
        (["memory"], Placement(weight=2048, memory=20 * MIB)),
        (["memory", "weight"], Placement(weight=16, memory=20 * MIB)),
    ],
)
def test_what_a_disturbance_alters_may_differ(
    classes: list[str], found: Placement, tmp_path: Path
) -> None:
    """A `weight` ended the trial of a tier with a weight: 2048 asked, 16 found."""
    standing(disturbed(*classes), found, tmp_path).check()


@pytest.mark.parametrize(
    ("classes", "found", "what"),
    [
        (["memory"], Placement(weight=16, memory=512 * MIB), "weight 2048 asked, 16 found"),
        (["weight"], Placement(weight=2048, memory=20 * MIB), "memory limit"),
        (["quota"], Placement(weight=16, memory=512 * MIB), "weight 2048 asked, 16 found"),
    ],
)
def test_what_it_does_not_alter_may_not(
    classes: list[str], found: Placement, what: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=what):
        standing(disturbed(*classes), found, tmp_path).check()
