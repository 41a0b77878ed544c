"""What is drawn: the same from the same seed, within its bounds, and never two at once."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import pairwise
from typing import Any

from bad_values import GOOD
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tierlab.experiment import Experiment, TrialPlan
from tierlab.experiment.disturb import suited
from tierlab.experiment.disturb_classes import ANYWHERE
from tierlab.experiment.draw import APART_NS, MARGIN_NS, PREPARATION_NS, Drawn
from tierlab.experiment.subjects import existing
from tierlab.trial.truth import written

S = 10**9
MS = 10**6


def trial(disturb: list[dict[str, Any]], seed: int = 1, **phases: str) -> TrialPlan:
    document = GOOD | {
        "experiment": {"name": "e", "seed": seed},
        "load": {"users": 10, "phases": phases},
        "disturb": disturb,
    }
    return Experiment.from_tables(document).trials()[0]


def drawn(seed: int, runtime: str = "1m", ramp_up: str = "10s", **keys: Any) -> tuple[Drawn, ...]:
    return trial([{"class": "random"} | keys], seed, runtime=runtime, ramp_up=ramp_up).disturb


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 8))
def test_the_same_seed_draws_the_same(seed: int, count: int) -> None:
    assert drawn(seed, count=count) == drawn(seed, count=count)


def test_other_seeds_draw_others() -> None:
    assert len({drawn(seed) for seed in range(50)}) == 50


@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(1, 6),
    gap=st.integers(0, 5_000),
    ramp_up=st.integers(0, 8),
    fixed=st.integers(6, 80),
)
def test_none_overlap_and_all_lie_within_the_runtime(
    seed: int, count: int, gap: int, ramp_up: int, fixed: int
) -> None:
    keys = {"class": "random", "count": count, "gap": f"{gap}ms"}
    stated = {"class": "freeze", "at": f"{fixed}s", "duration": "2s"}
    plan = trial([stated, keys], seed, runtime="90s", ramp_up=f"{ramp_up}s")

    assert [each.id for each in plan.disturb] == list(range(1, count + 2))
    for before, after in pairwise(plan.disturb):
        assert before.end_ns + gap * MS <= after.at_ns
    for each in plan.disturb:
        if each.at_ns != fixed * S:
            assert each.at_ns >= MARGIN_NS
            assert each.end_ns <= 90 * S - MARGIN_NS
        assert ramp_up * S + each.at_ns >= PREPARATION_NS


@given(seed=st.integers(0, 2**32 - 1))
def test_who_is_placed_later_keeps_the_gap_of_who_needs_a_longer_one(seed: int) -> None:
    """A second's gap of the later table was enough for it to begin within the earlier one's ten."""
    slow = {"class": "freeze", "at": "random", "on": "db.1", "gap": "10s"}
    quick = {"class": "random", "classes": ["lock"], "count": 5, "gap": "1s"}
    for before, after in pairwise(trial([slow, quick], seed, runtime="60s").disturb):
        either = "freeze" in (before.what.class_, after.what.class_)
        assert before.end_ns + (10 if either else 1) * S <= after.at_ns


@given(seed=st.integers(0, 2**32 - 1))
def test_bounds_are_kept(seed: int) -> None:
    keys = {"classes": ["freeze", "lock"], "subjects": ["web.1", "db.1"], "count": 4}
    for each in drawn(seed, shortest="60ms", longest="70ms", **keys):
        assert each.what.class_ in ("freeze", "lock")
        assert each.what.on in ("web.1", "db.1")
        assert 60 * MS <= each.what.duration_ns <= 70 * MS


def test_each_class_is_as_likely_as_another_and_disturbs_only_what_it_can() -> None:
    found = [drawn(seed)[0].what for seed in range(1800)]
    system = trial([]).system
    there = existing(system)

    counts = Counter(what.class_ for what in found)
    assert set(counts) == set(ANYWHERE)
    assert stats.chisquare(list(counts.values())).pvalue > 0.001
    assert all(what.on in suited(type(what), system) for what in found)
    assert all(what.felt(there[what.on]) for what in found)


def test_durations_are_even_by_their_logarithm_and_starts_by_themselves() -> None:
    found = [drawn(seed, longest="5s", classes=["freeze"])[0] for seed in range(800)]

    logarithms = stats.loguniform(50 * MS, 5 * S)
    assert stats.kstest([each.what.duration_ns for each in found], logarithms.cdf).pvalue > 0.001
    shares = [
        (each.at_ns - MARGIN_NS) / (60 * S - 2 * MARGIN_NS - each.what.duration_ns)
        for each in found
    ]
    assert stats.kstest(shares, "uniform").pvalue > 0.001


def test_repeats_are_spaced_as_stated() -> None:
    plan = trial([{"class": "freeze", "at": "5s", "every": "7s", "count": 3}])

    assert [each.at_ns for each in plan.disturb] == [5 * S, 12 * S, 19 * S]


def test_repetitions_draw_anew_and_levels_of_one_repetition_draw_the_same() -> None:
    document = GOOD | {
        "disturb": [{"class": "random"}],
        "factors": {"load.users": [10, 20], "repeat": 2},
    }
    trials = Experiment.from_tables(document).trials()

    assert trials[0].disturb == trials[1].disturb != trials[2].disturb == trials[3].disturb


def test_the_plan_as_a_file_says_nothing_of_them() -> None:
    disturbed = trial([{"class": "random", "count": 3}])

    assert "disturb" not in disturbed.as_file()
    assert disturbed.as_file()["load"] == trial([]).as_file()["load"]


@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_written_down_is_drawn_again_from_any_seed(seed: int) -> None:
    plan = trial([{"class": "random", "count": 5}], seed)
    again = tomllib.loads(written(plan.disturb))["disturb"]

    repeated = trial(again, seed + 1).disturb if seed < 2**32 - 1 else trial(again, 0).disturb
    assert written(repeated) == written(plan.disturb)


@given(seed=st.integers(0, 2**32 - 1))
def test_without_a_gap_squeezes_of_one_server_keep_their_distance(seed: int) -> None:
    found = drawn(seed, classes=["memory"], subjects=["db.1"], count=8, gap="0s")

    for before, after in pairwise(found):
        assert before.end_ns + APART_NS["memory"] <= after.at_ns


def test_a_tight_fit_is_found() -> None:
    """Nine with their gaps fill five sixths of the runtime."""
    found = drawn(3, classes=["freeze"], count=9, shortest="1800ms", longest="1800ms")

    assert len(found) == 9
