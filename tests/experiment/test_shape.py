"""`[load.shape]`: curves against closed forms, files of recorded loads, and what is said of
mistakes.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_values import GOOD

from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan, load
from tierlab.values.points import Points

S = 10**9
RUNTIME = 60 * S


def planned(shape: dict[str, Any]) -> TrialPlan:
    (plan,) = Experiment.from_tables(GOOD | {"load": {"users": 10, "shape": shape}}).trials()
    return plan


def curve(shape: dict[str, Any]) -> Points:
    return planned(shape).load.shape.curve(RUNTIME)


def told(shape: dict[str, Any], **rest: Any) -> list[str]:
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(GOOD | {"load": {"users": 10, "shape": shape} | rest}, "my.toml")
    return [line.removeprefix("my.toml: ").strip() for line in str(raised.value).splitlines()]


def mean(points: Points) -> float:
    """The curve's integral over its length."""
    area = sum((b - a) * (x + y) / 2 for (a, x), (b, y) in pairwise(points))
    return area / points[-1][0]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ({}, 1.0),
        ({"kind": "day"}, (0.1 + 1) / 2),
        ({"kind": "day", "low": 0.4, "count": 3}, (0.4 + 1) / 2),
        ({"kind": "ramp", "low": 0.5}, 0.75),
        ({"kind": "steps"}, 0.55),
        ({"kind": "steps", "low": 0, "count": 4}, 0.5),
        ({"kind": "bursts", "low": 0.2, "count": 3, "length": "2s"}, 0.2 + 0.8 * 3 * 2 / 60),
    ],
)
def test_the_mean_load_is_what_theory_says(shape: dict[str, Any], expected: float) -> None:
    points = curve(shape)

    assert (points[0][0], points[-1][0]) == (0, RUNTIME)
    assert mean(points) == pytest.approx(expected, rel=1e-4)
    assert max(level for _, level in points) == pytest.approx(1)


def test_a_day_is_a_cosine_to_a_thousandth() -> None:
    at, level = np.array(curve({"kind": "day", "low": 0.2})).T
    fine = np.linspace(0, RUNTIME, 10_001)
    wanted = 0.2 + 0.8 * (1 - np.cos(2 * np.pi * fine / RUNTIME)) / 2
    assert np.abs(np.interp(fine, at, level) - wanted).max() < 1e-3


def test_steps_are_even() -> None:
    points = curve({"kind": "steps", "low": 0.25, "count": 4})
    assert points == tuple(
        (at * 15 * S, level)
        for step, level in enumerate((0.25, 0.5, 0.75, 1.0))
        for at in (step, step + 1)
    )


def test_points_are_stretched_over_the_runtime() -> None:
    day = [["0h", 0.2], ["12h", 1], ["12h", 0.5], ["24h", 0.2]]
    assert curve({"points": day}) == ((0, 0.2), (30 * S, 1), (30 * S, 0.5), (60 * S, 0.2))


def test_a_file_of_a_recorded_load_is_scaled_and_kept_in_the_plan(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text("seconds,requests\n100,30\n\n400,120\n700,60,late\n")
    file = tmp_path / "my.toml"
    file.write_text(
        '[experiment]\nname = "e"\n[system]\nworkload = "static"\n'
        '[load]\nrate = 5.0\nshape = { file = "day.csv" }\n'
    )

    (plan,) = load(file).trials()
    (tmp_path / "day.csv").unlink()
    (again,) = Experiment.from_tables(plan.as_file()).trials()

    assert plan.load.shape.curve(RUNTIME) == ((0, 0.25), (30 * S, 1.0), (60 * S, 0.5))
    assert again.load.shape.curve(RUNTIME) == plan.load.shape.curve(RUNTIME)


def test_a_constant_load_leaves_no_trace_in_the_plan() -> None:
    assert "shape" not in planned({}).as_file()["load"]


def test_keys_of_another_kind_and_values_out_of_range_are_told_together() -> None:
    assert told({"kind": "ramp", "low": 2, "length": "1s", "count": 0}) == [
        "4 mistakes:",
        "load.shape.low must be a number from 0 to 1, not 2.",
        "load.shape.count must be a whole number from 1 to 100, not 0.",
        'load.shape.count goes with the kind "day" or "bursts" or "steps", not with "ramp".',
        'load.shape.length goes with the kind "bursts", not with "ramp".',
    ]


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (
            {"kind": "steps", "count": 1},
            'load.shape.count must be at least 2 with the kind "steps"',
        ),
        ({"points": [["0s", 1], ["9s", 1]], "kind": "day"}, "load.shape.kind goes without points"),
        (
            {"points": [["0s", 1], ["1s", 1]], "file": "a.csv"},
            "load.shape has both points and file",
        ),
        ({"kind": "bursts", "count": 60}, "load.shape has 60 bursts of 1s, which leave nothing"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(shape: dict[str, Any], sentence: str) -> None:
    (said,) = told(shape)
    assert said.startswith(sentence)


@pytest.mark.parametrize(
    "points",
    [
        [],
        [["0s", 1]],
        [["1s", 1], ["2s", 1]],
        [["0s", 1], ["0s", 0.5]],
        [["0s", 1], ["5s", 0.5], ["4s", 1]],
        [["0s", 0], ["5s", 0]],
        [["0s", 1], ["5s", 1.5]],
        [["0s", 1], [5, 1]],
        [["0s", 1], ["5s", "1"]],
        [["0s", 1, 2], ["5s", 1]],
        "0s",
    ],
)
def test_points_that_are_no_curve_are_refused(points: object) -> None:
    (said,) = told({"points": points})
    assert said.startswith("load.shape.points must be a list of 2 to 10000 points [time, level]")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (None, ["names {}, which cannot be read: No such file or directory"]),
        (b"\xff\xfe", ["names {}, which is not UTF-8 text"]),
        (b"", ["must name 2 to 10000 lines, and {} has 0"]),
        (b"0,0\n5,0\n", ["must name a load above 0 over some time, and {} has none"]),
        (
            b"0,1\n5,x\n7\n9,-1\n",
            [f"must have a time in seconds and a load in line {n} of {{}}" for n in (2, 3, 4)],
        ),
        (b"0,1\n9,1\n5,2\n", ["has in line 3 of {} a time before the one above it"]),
        pytest.param(
            b'"time,load\n' + b"1000,300\n" * 20_000,
            ["names {}, which cannot be read as CSV (field"],
            id="a stray quote",
        ),
        (b"0,1\n" + b"nan,1\n" * 7, [*["must have"] * 5, "has 2 more such lines in {}"]),
    ],
)
def test_a_file_that_is_no_curve_is_told_line_by_line(
    tmp_path: Path, text: bytes | None, sentences: list[str]
) -> None:
    path = tmp_path / "curve.csv"
    if text is not None:
        path.write_bytes(text)
    said = [line for line in told({"file": str(path)}) if "mistakes" not in line]
    assert len(said) == len(sentences)
    for line, sentence in zip(said, sentences, strict=True):
        assert line.startswith(f"load.shape.file {sentence.format(path)}")
