"""A study's figures drawn again, from trials whose values are given."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.studies.made_cases import placed, trial
from tierlab.errors import UserError
from tierlab.report.case_charts import CaseChart, case_charts
from tierlab.studies.cases import Case, Cases
from tierlab.studies.measures import MEASURES
from tierlab.studies.published import Drawn, Published, load

TABLE = """
[paper]
title = "T"
author = "A"
where = "W"
testbed = "there"
here = "here"

[[claims]]
figure = "1"
seen = "s"
value = "v"
measure = "least throughput"
agrees = { least = 1 }

[[drawn]]
figure = "1"
shows = "throughput"
over = "load.users"

[[cases]]
name = "base"
levels = { "system.environment" = "native" }
"""


def drawn(cases: list[Case], shows: str, over: str | None = None) -> CaseChart:
    asked = Drawn(figure="6", shows=shows, over=over)
    (chart,) = case_charts(Cases(cases), Published.model_construct(drawn=[asked]))
    return chart


def loaded(environment: str, users: int, per_second: float) -> Case:
    levels = {"system.environment": environment, "load.users": users}
    return Case("c", {}, levels, [trial([per_second] * 2, response_s=0.02)] * 2, None)


def test_runs_of_a_case_stand_in_the_order_of_time() -> None:
    chart = drawn(
        [placed("even", 0.0, [100, 100, 100]), placed("uneven", 0.5, [50, 100, 0])], "throughput"
    )
    (line,) = chart.lines
    assert (chart.most, chart.unit) == ("100", "requests/s")
    assert [place for _, place in chart.labels] == ["even", "uneven"]
    assert [dot.words for dot in line.dots[3:]] == [
        "uneven: 50 requests/s",
        "uneven: 100 requests/s",
        "uneven: 0 requests/s",
    ]
    assert all(before.x < after.x for before, after in pairwise(line.dots))
    top, floor = line.dots[0].y, chart.floor
    assert [dot.y for dot in line.dots[3:]] == [(top + floor) / 2, top, floor]
    assert [[y for _, y in path] for path in line.paths] == [
        [top] * 3,
        [(top + floor) / 2, top, floor],
    ]


def test_over_a_factor_each_combination_of_the_others_is_a_line_through_its_means() -> None:
    chart = drawn(
        [loaded("native", 500, 70), loaded("native", 800, 110), loaded("podman", 500, 55)],
        "throughput",
        "load.users",
    )
    native, podman = chart.lines
    assert [label for _, label in chart.labels] == ["500", "800"]
    assert (native.name, podman.name) == ("native", "podman")
    assert native.colour != podman.colour
    # Two trials each, at one place.
    assert [dot.x for dot in native.dots] == [chart.labels[0][0]] * 2 + [chart.labels[1][0]] * 2
    (path,) = native.paths
    assert [x for x, _ in path] == [x for x, _ in chart.labels]
    assert podman.paths == []
    assert podman.dots[0].y == (chart.floor + native.dots[2].y) / 2


def test_a_line_of_a_number_says_of_what_it_is() -> None:
    chart = drawn([loaded("native", 500, 70)], "throughput", "system.environment")
    assert [line.name for line in chart.lines] == ["users 500"]


def test_what_no_trial_has_is_not_drawn() -> None:
    asked = [Drawn(figure="5", shows="database's CPU use")]
    assert (
        case_charts(Cases([loaded("native", 500, 70)]), Published.model_construct(drawn=asked))
        == []
    )


@pytest.mark.parametrize(
    ("instead", "sentence"),
    [
        ('shows = "queues"', "cannot show `queues`: there are throughput, response time"),
        ("", "draws figure 1 over `load.users`, which is no level of all `cases`"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(
    instead: str, sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.published.toml"
    path.write_text(TABLE.replace('shows = "throughput"', instead or 'shows = "throughput"'))
    with pytest.raises(UserError, match=sentence):
        load(path)


def test_what_is_drawn_needs_cases(tmp_path: Path) -> None:
    path = tmp_path / "x.published.toml"
    without, _, _ = TABLE.partition("[[cases]]")
    path.write_text(without.replace("least throughput", next(iter(MEASURES))))
    with pytest.raises(UserError, match="`drawn` needs `cases`"):
        load(path)
