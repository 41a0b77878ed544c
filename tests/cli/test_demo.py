"""The demo's own experiment file is one, whatever it draws and whatever this machine can do."""

from __future__ import annotations

import pytest

from tierlab.cli import demo as module
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.native.native import Native
from tierlab.experiment import Experiment


@pytest.mark.parametrize("seed", range(12))
def test_every_seed_draws_one_disturbance(seed: int) -> None:
    (trial,) = Experiment.from_tables(module._tables(seed), "the demo").trials()

    assert len(trial.disturb) == 1


def test_what_this_machine_cannot_do_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = {Capability.MEMORY: "", Capability.DISK: "", Capability.NETWORK: ""}
    probe = Probe("native", frozenset(), lacking, frozenset({0}), 1 << 34, frozenset({0}))
    monkeypatch.setattr(Native, "probe", lambda: probe)

    (table,) = module._tables(1)["disturb"]

    assert {"memory", "disk", "network"}.isdisjoint(table["classes"])
    assert "freeze" in table["classes"]
