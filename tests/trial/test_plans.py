"""What the agents are told."""

from __future__ import annotations

from pathlib import Path

from tierlab.experiment import Experiment
from tierlab.servers.base import Endpoint
from tierlab.trial import plans


def test_without_a_ramp_up_users_are_not_staggered_over_the_runtime() -> None:
    """The driver staggers over the first phase, whatever its name."""
    (trial,) = Experiment.from_tables(
        {
            "experiment": {"name": "e"},
            "system": {"workload": "rubbos"},
            "load": {"users": 1, "phases": {"ramp_up": "0s", "runtime": "2s"}},
        }
    ).trials()
    plan = plans.drive(trial, Endpoint("127.0.1.1", 8080, "http"), Path("workload.json"))
    assert plan["phases"][:2] == [
        {"name": "ramp_up", "duration_ns": 0},
        {"name": "runtime", "duration_ns": 2_000_000_000},
    ]
