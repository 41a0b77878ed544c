"""What the plan allows is what the later rooms have: samplers, servers' limits."""

from __future__ import annotations

from tierlab.analysis.requests.distribution import Distribution
from tierlab.experiment import Objective
from tierlab.experiment.observe import SAMPLERS
from tierlab.tables.schemas import SCHEMAS


def test_every_bound_on_response_times_is_a_figure_of_the_analysis() -> None:
    durations = {name for name in Objective.model_fields if name.endswith("_ns")}

    assert {name.replace("_ns", "_s") for name in durations} <= set(Distribution.model_fields)


def test_every_sampler_fills_a_table() -> None:
    not_sampled = {"requests", "visits", "events", "soft"}

    assert set(SAMPLERS) == set(SCHEMAS) - not_sampled
