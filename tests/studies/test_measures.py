"""Every claim about one run against made runs whose truth is known, and against lacking ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.studies.made_studies import calm, transient, two_parts
from tierlab import experiment
from tierlab.analysis.observed import observe
from tierlab.cli.study import STUDIES, find
from tierlab.studies import Comparison, compare
from tierlab.studies.published import SUFFIX, beside, load
from tierlab.tables.run import Run

NAMES = sorted(each.name.removesuffix(SUFFIX) for each in STUDIES.glob(f"*{SUFFIX}"))


def compared(folder: Path, study: str) -> Comparison:
    return compare(observe(Run(folder)), load(beside(find(study))))


def by_figure(comparison: Comparison) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in comparison.rows:
        found.setdefault(row.figure, []).append(row.verdict)
    return found


def value(comparison: Comparison, how: str) -> float | None:
    (row,) = [row for row in comparison.rows if how in row.how]
    return row.measured.value


def test_there_are_these_studies() -> None:
    assert NAMES == [
        "container-instances",
        "core-mapping-caches",
        "native-container-load",
        "native-container-vm",
        "native-xen",
        "olio-consolidated",
        "olio-cores",
        "olio-load",
        "rubbos-cores",
        "thrashing-modes",
        "transient-events",
        "vcpu-mapping-dynamic",
        "vcpu-mapping-kernels",
        "vcpu-mapping-static",
        "vcpu-mapping-static-xen",
        "vcpu-mapping-tpch",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_studys_experiment_has_its_name_and_a_trial_for_each_case(name: str) -> None:
    plans = experiment.load(find(name)).trials()
    cases = load(beside(find(name))).cases
    assert {plan.experiment for plan in plans} == {name}
    assert len(plans) == max(1, len(cases))
    assert all(case.levels in [plan.levels for plan in plans] for case in cases)


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_says_where_it_was_published(name: str) -> None:
    published = load(beside(find(name)))
    assert all(any(digit.isdigit() for digit in claim.figure) for claim in published.claims)


def test_a_run_as_the_thesis_saw_it_agrees_in_every_claim(tmp_path: Path) -> None:
    found = compared(transient(tmp_path / "run"), "transient-events")
    differing = [row for row in found.rows if row.verdict != "agrees"]
    assert [row.seen for row in differing] == []
    assert value(found, "mean utilisation") == pytest.approx(0.2, abs=0.01)
    assert value(found, "clusters of 5 or more") == 1
    assert value(found, "half of its time or more in iowait") == pytest.approx(0.3, abs=0.051)
    assert value(found, "stalled by memory or its disk, a cluster") == pytest.approx(0.3, abs=0.051)
    assert value(found, "connection requests were dropped") == 1


def test_a_calm_run_has_nothing_of_it(tmp_path: Path) -> None:
    found = compared(calm(tmp_path / "run"), "transient-events")
    agreeing = {row.seen for row in found.rows if row.verdict == "agrees"}
    assert agreeing == {
        "No server was busy on average when some requests took seconds.",
        "Outside the clusters every request took milliseconds.",
    }
    assert value(found, "clusters of 5 or more") == 0
    assert {row.verdict for row in found.rows if row.figure == "29"} == {"not measured"}


@pytest.mark.parametrize(
    ("without", "unmeasured"),
    [
        ("visits", {"29": 3, "30": 3, "28 to 31": 1}),
        ("cpu", {"28": 1, "30": 1}),
        ("pressure", {"30": 1}),
        ("domain", {"31": 2}),
        ("requests", {"28": 4}),
    ],
)
def test_what_was_not_sampled_is_not_measured_and_never_zero(
    tmp_path: Path, without: str, unmeasured: dict[str, int]
) -> None:
    found = compared(transient(tmp_path / "run", (without,)), "transient-events")
    verdicts = by_figure(found)
    for figure, count in unmeasured.items():
        assert verdicts[figure].count("not measured") >= count, figure
    assert all(row.measured.words for row in found.rows)


def test_a_run_of_two_parts_agrees_in_every_claim(tmp_path: Path) -> None:
    found = compared(two_parts(tmp_path / "run"), "thrashing-modes")
    differing = [row for row in found.rows if row.verdict != "agrees"]
    assert not differing
    assert value(found, "modes of the run") == 2
    assert value(found, "mean over the congested seconds") == pytest.approx(0.68, abs=0.1)


def test_a_run_of_one_mode_is_not_said_to_have_two(tmp_path: Path) -> None:
    found = compared(calm(tmp_path / "run"), "thrashing-modes")
    assert value(found, "modes of the run") == 1
    assert value(found, "modes of the response times") == 1
    verdicts = by_figure(found)
    assert set(verdicts["17"] + verdicts["16, 17"]) == {"not measured"}
