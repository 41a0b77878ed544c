"""`objective.rules` needs rules to judge by."""

from __future__ import annotations

import pytest

from tierlab.errors import UserError
from tierlab.experiment import Experiment


def test_a_workload_without_rules_is_not_run_to_be_judged_by_them() -> None:
    file = {
        "experiment": {"name": "x"},
        "system": {"workload": "static"},
        "load": {"users": 1},
        "objective": {"rules": True},
    }
    with pytest.raises(UserError, match=r"objective\.rules needs a workload .* static has none"):
        Experiment.from_tables(file)
    Experiment.from_tables(file | {"objective": {"rules": False}})
