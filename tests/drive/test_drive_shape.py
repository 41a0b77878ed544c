"""A load that follows a curve: how many users or requests when, and the same ones always."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from .driving import MILLISECOND, SECOND, Driven, Driver

UNIT = 350 * MILLISECOND
"""What the curves count in."""
RATE = 800
PHASES = [
    {"name": "ramp_up", "duration_ns": 0},
    {"name": "runtime", "duration_ns": 2 * UNIT},
]
STEPS = (0.2, 0.5, 0.8, 0.4)
TRIANGLE = [(0.0, 0.2), (1.0, 1.0), (1.5, 0.0), (1.7, 0.0), (1.7, 0.6), (2.0, 0.6)]


def shape(points: list[tuple[float, float]]) -> list[dict[str, Any]]:
    return [{"at_ns": int(at * UNIT), "level": level} for at, level in points]


def driven_by(drive: Driver, port: int, threads: int, **keys: Any) -> Driven:
    place = Driver(drive.folder.with_name(f"{threads}-threads"))
    return place(port, phases=PHASES, threads=threads, shape=shape(TRIANGLE), **keys)


def since_start(driven: Driven) -> pd.Series[Any]:
    """From the start of the run to each request's intended start."""
    return (driven.requests.intended_ns - driven.lines[0]["start_ns"]) / UNIT


def asked(driven: Driven) -> dict[int, list[str]]:
    """What each user asked for, in its order."""
    ordered = driven.requests.sort_values("start_ns")
    return {user: list(of.interaction) for user, of in ordered.groupby("user")}


def test_an_open_loop_has_the_same_arrivals_on_one_two_and_three_threads(
    site: Callable[..., int], drive: Driver
) -> None:
    loop = {"mode": "open", "rate_per_s": RATE, "arrivals": "poisson"}
    port = site()
    of = {n: np.sort(since_start(driven_by(drive, port, n, loop=loop))) for n in (1, 2, 3)}

    # Their real time is read anew at each turn.
    assert of[1] == pytest.approx(of[2], abs=1e-3)
    assert of[1] == pytest.approx(of[3], abs=1e-3)
    at, level = np.array(TRIANGLE).T
    expected = RATE * np.trapezoid(level, at) * UNIT / SECOND
    assert abs(len(of[1]) - expected) < 5 * np.sqrt(expected)
    assert not ((of[1] > 1.501) & (of[1] < 1.699)).any()


def test_users_come_and_go_by_the_curve_and_ask_for_the_same(
    site: Callable[..., int], drive: Driver
) -> None:
    port = site()
    runs = {n: driven_by(drive, port, n, users=30, think_ms=7) for n in (1, 2, 3)}

    for driven in runs.values():
        at = since_start(driven)
        # The user of rank r is there while the level is at (r + 1/2) / 30 or above.
        levels = np.interp(at, *np.array(TRIANGLE[:4]).T)
        levels[at >= 1.7] = 0.6
        assert (levels * 30 >= driven.requests.user + 0.5 - 0.03).all()
        assert at[driven.requests.user >= 27].between(0.85, 1.1).all()
        assert (at[driven.requests.user == 17] > 1.7).any(), "who left comes back"
    whole = asked(runs[1])
    assert len(whole) > 25, "the last few are there for a moment only"
    for n in (2, 3):
        other = asked(runs[n])
        assert other.keys() == whole.keys()
        for user, pages in whole.items():
            both = min(len(pages), len(other[user]))
            assert pages[:both] == other[user][:both]


def test_a_user_asks_for_the_same_with_and_without_a_curve(
    site: Callable[..., int], drive: Driver
) -> None:
    port = site()
    shaped = asked(driven_by(drive, port, 1, users=10, think_ms=7))
    plain = asked(drive(port, phases=PHASES, users=10, think_ms=7))
    for user, pages in shaped.items():
        both = min(len(pages), len(plain[user]))
        assert pages[:both] == plain[user][:both]


def test_who_has_to_leave_waits_for_its_reply_first_and_is_counted(
    site: Callable[..., int], drive: Driver
) -> None:
    """Replies take 300 ms; all but two of ten users have to leave after 175 ms."""
    phases = [PHASES[0], {"name": "runtime", "duration_ns": SECOND + 50 * MILLISECOND}]
    driven = drive(
        site("--delay-ms", "300"), phases=phases, users=10, think_ms=5,
        shape=shape([(0.0, 1.0), (0.5, 1.0), (0.5, 0.2)]), connection="keep_alive",
    )  # fmt: skip
    requests = driven.requests
    assert (requests.groupby("user").size() == 1).sum() == 8
    assert requests.error.dropna().isin(["cut"]).all()
    lags = driven.events[driven.events.kind == "driver_lag"]
    there = [json.loads(detail)["users"] for detail in lags.detail]
    assert there[0] == 2, "after a second all have their replies"


def test_users_who_think_before_their_first_request_are_there(
    site: Callable[..., int], drive: Driver
) -> None:
    """The interactive response time law, with no response time to speak of: as many requests come
    in each second as users divided by their think time, though a third of them came with it.
    """
    think_s = 2
    phases = [PHASES[0], {"name": "runtime", "duration_ns": 4 * SECOND}]
    points = [(step + edge, level) for step, level in enumerate(STEPS) for edge in (0, 1)]
    driven = drive(
        site(), phases=phases, users=2000, think_ms=1000 * think_s, connection="keep_alive",
        shape=[{"at_ns": at * SECOND, "level": level} for at, level in points],
    )  # fmt: skip
    lags = driven.events[driven.events.kind == "driver_lag"].iloc[: len(STEPS)]
    there = np.array([json.loads(detail)["users"] for detail in lags.detail])
    assert there == pytest.approx(2000 * np.array(STEPS), abs=20), "few wait for a reply"
    second = (driven.requests.intended_ns - driven.lines[0]["start_ns"]) // SECOND
    # Those there at first begin at once, and have not thought before.
    for number in range(1, len(STEPS)):
        expected = there[number] / think_s
        assert abs((second == number).sum() - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize(
    ("points", "sentence"),
    [
        ([(0, 1.5)], "each `level` of `shape` must be 0 to 1"),
        ([(0, 0.0), (1, 0.0)], "a `level` of `shape` must be above 0"),
        ([(1, 0.5), (0, 0.5)], "not before the one above it"),
        ([(-1, 0.5)], "must be 0 to ten years"),
    ],
)
def test_a_curve_that_cannot_be_is_refused(
    points: list[tuple[float, float]], sentence: str, drive: Driver
) -> None:
    ended = drive.end(drive.start(1, shape=shape(points)))
    assert ended.status != 0
    assert sentence in ended.said


def test_the_grace_is_no_longer_than_it_has_to_be(site: Callable[..., int], drive: Driver) -> None:
    """A curve that ends at nothing leaves nobody to wait for."""
    end = shape([(0.0, 1.0), (0.5, 1.0), (0.5, 0.0)])
    driven = drive(site(), phases=PHASES, users=5, think_ms=5, shape=end)
    assert since_start(driven).max() < 0.5
    assert driven.summary["wall_ns"] < 2 * UNIT + 500 * MILLISECOND
