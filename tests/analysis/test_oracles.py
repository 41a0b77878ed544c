"""The same figures as SciPy's, and as others' that `oracles/record.py` has asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from tierlab.analysis.requests.two_modes import two_states
from tierlab.analysis.statistics.false_discovery import false_discovery
from tierlab.analysis.statistics.holm import holm

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "oracles" / "recorded.json").read_text()
)


@pytest.mark.parametrize("tests", RECORDED["holm"], ids=lambda tests: f"{len(tests['p'])} tests")
def test_holms_correction_is_statsmodels(tests: dict[str, list[float]]) -> None:
    assert holm(tests["p"]) == pytest.approx(tests["adjusted"])


@pytest.mark.parametrize("tests", RECORDED["holm"], ids=lambda tests: f"{len(tests['p'])} tests")
def test_the_share_of_false_discoveries_is_scipys(tests: dict[str, list[float]]) -> None:
    assert false_discovery(tests["p"]) == pytest.approx(false_discovery_control(tests["p"]))


@pytest.mark.parametrize("name", RECORDED["two states"])
def test_two_states_are_hmmlearns(name: str) -> None:
    recorded = RECORDED["two states"][name]
    found = two_states(np.array(recorded["level"]))
    assert found is not None
    assert found.high.astype(int).tolist() == recorded["high"]
    assert found.means == pytest.approx(recorded["means"], rel=1e-4)
    assert found.log_likelihood == pytest.approx(recorded["log likelihood"], abs=1e-3)
