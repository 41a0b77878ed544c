"""What is said of a knee, and the page and the JSON that have it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tierlab.analysis.knee.saturation import Saturation
from tierlab.analysis.knee.search import Knee
from tierlab.analysis.knee.step import Step
from tierlab.report.knee import FoundKnee, Knees, sentences, show_knee, write_knees

STEPS = [
    Step(trial="001", load=n, seconds=4.0, throughput=min(n / 7, 60), count=100, failed=0.0,
         mean_s=0.1, p50_s=0.1, p99_s=n / 1000)
    for n in (100.0, 200.0, 300.0, 400.0, 500.0, 600.0)
]  # fmt: skip
FLAT = Saturation(load=420, low=400, high=440, throughput=60, slope=1 / 7, beyond=0)


def found(**changes: Any) -> FoundKnee:
    own = {key: changes.pop(key) for key in list(changes) if key in FoundKnee.model_fields}
    knee = Knee(
        **{
            "is_closed": True,
            "objective": {"p99_ns": 350e6, "errors": 0.01},
            "load": 350.0,
            "low": 300.0,
            "high": 400.0,
            "saturation": FLAT,
            "steps": STEPS,
            **changes,
        }
    )
    return FoundKnee(
        **{
            "levels": {},
            "trials": ["001"],
            "driver_limited": [],
            "knee": knee,
            "dollars_per_month": None,
            **own,
        }
    )


@pytest.mark.parametrize(
    ("knee", "said"),
    [
        (
            found(dollars_per_month=700.0),
            [
                "The knee is at 350 users (300 to 400 with 95 % confidence): up to there p99 is at"
                " most 350 ms and at most 1 % of the requests fail, at 50 requests/s.",
                "Throughput stops to follow the load at 420 users (400 to 440), 60 requests/s.",
                "That is 2 dollars a month for each of them (1.75 to 2.33).",
            ],
        ),
        (
            found(objective={}, is_closed=False, load=420.0, low=400.0, high=440.0),
            [
                "The knee is at 420 requests/s offered (400 to 440 with 95 % confidence): up to"
                " there throughput follows the load, at 57.7 requests/s.",
            ],
        ),
        (
            found(objective={}, load=None, low=600.0, high=None, saturation=None),
            ["Up to 600 users, throughput follows the load: the knee is above that."],
        ),
        (
            found(
                load=None,
                low=600.0,
                high=None,
                saturation=None,
                objective={"rules": 1.0},
                limited="The data are for 600 users.",
            ),
            [
                "Up to 600 users, the limits of the benchmark's rules that depend on the load are"
                " kept: the knee is above that.",
                "The data are for 600 users.",
            ],
        ),
        (
            found(load=100.0, low=0.0, high=100.0, objective={"mean_ns": 1e6}, saturation=None),
            ["Not even at 100 users: the mean is at most 1 ms."],
        ),
        (
            found(saturation=None, high=None, objective={"rules": 1.0}, driver_limited=["002"]),
            [
                "The knee is at 350 users (300 to more than was tried with 95 % confidence): up to"
                " there the limits of the benchmark's rules that depend on the load are kept, at 50"
                " requests/s.",
                "In 002 the driver itself was the bottleneck: the knee may be its own.",
            ],
        ),
    ],
)
def test_it_is_said_where_the_knee_is_and_how_surely(knee: FoundKnee, said: list[str]) -> None:
    assert list(sentences(knee)) == said


def test_the_terminal_has_a_line_for_each_load() -> None:
    text = StringIO()
    show_knee(found(levels={"system.environment": "\x1b[2Jpodman"}), Console(file=text, width=120))
    lines = text.getvalue().splitlines()
    assert sum(line.rstrip().endswith("001") for line in lines) == 6
    assert "\x1b" not in text.getvalue()


def test_the_page_and_the_json_have_all_of_it(tmp_path: Path) -> None:
    two = [found(), found(levels={"system.workload": "<script>x"}, load=None, high=None)]
    page = write_knees(Knees.of("e", "How <many>?", two), tmp_path)

    html = page.read_text(encoding="utf-8")
    assert html.count("<circle") == 2 * 2 * 6
    assert html.count('class="knee"') == 2, "of the first only, in both of its charts"
    assert "at most 350 ms" in html
    assert "<script>x" not in html
    assert "How &lt;many&gt;?" in html
    stored = Knees.model_validate(json.loads((tmp_path / "knee.json").read_text()))
    assert stored.found == two


def test_a_step_in_which_nothing_ended_has_no_share_that_failed(tmp_path: Path) -> None:
    """One user who thinks for seven seconds: the page could not be made, nor the curve be told."""
    none = Step(
        trial="001", load=1.0, seconds=4.0, throughput=0.0, count=0, failed=None,
        mean_s=None, p50_s=None, p99_s=None,
    )  # fmt: skip
    answer = found(steps=[none, *STEPS])
    write_knees(Knees.of("e", "", [answer]), tmp_path)
    assert "none ended" in (tmp_path / "knee.html").read_text()
    console = Console(file=StringIO(), width=120)
    show_knee(answer, console)
