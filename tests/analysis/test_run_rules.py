"""The verdict of a benchmark's rules, on runs that are made to pass and to fail by each of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tierlab.analysis.observed import Observed
from tierlab.analysis.requests.buckets import BUCKETS, Buckets
from tierlab.analysis.requests.run_rules import RunVerdict, run_verdict
from tierlab.analysis.summary import summarise
from tierlab.cli.objectives import shortfalls
from tierlab.experiment.objective import Objective
from tierlab.report.words import answer

S = 1_000_000_000
RAMP_UP, RUNTIME, RAMP_DOWN = 10 * S, 100 * S, 10 * S
CYCLE = 5 * S
USERS = 40
MIX = {"Home": 0.5, "Tag": 0.25, "Event": 0.25}
LIMITS = {"Home": 1 * S, "Tag": 2 * S, "Event": 4 * S}
RULES = {
    "operations": {name: {"share": share, "limit_ns": LIMITS[name]} for name, share in MIX.items()},
    "most_users_per_rate": 5.25,
    "checks": [
        {"name": "attendees", "operation": "Event", "of": "step", "step": "Attend", "least": 0.06},
        {
            "name": "images of Home",
            "operation": "Home",
            "of": "images_named",
            "least": 9.5,
            "most": 10.5,
        },
        {"name": "images loaded", "operation": "Home", "of": "images", "least": 3},
        {"name": "image bytes", "operation": "Home", "of": "image_bytes", "least": 15_000},
        {"name": "images of Tag", "operation": "Tag", "of": "images_named", "least": 3.6},
    ],
}
Row = dict[str, Any]


def recorded() -> list[Row]:
    """A run of users whose operations follow each other every five seconds, and take 200 ms."""
    rows = []
    order = ["Home", "Tag", "Home", "Event"]
    for user in range(USERS):
        first = user * CYCLE // USERS
        for turn, start in enumerate(range(first, RAMP_UP + RUNTIME + RAMP_DOWN, CYCLE)):
            name = order[turn % 4]
            attends = name == "Event" and (user + turn // 4) % 10 == 0
            rows.append(
                {
                    "user": user,
                    "interaction": name,
                    "intended_ns": start,
                    "start_ns": start,
                    "end_ns": start + S // 5,
                    "status": 200,
                    "attempts": 1,
                    "delay_ns": CYCLE if turn else None,
                    "steps": {True: "Event+Attend", False: "Event"}[attends]
                    if name == "Event"
                    else None,
                    "images_named": 10,
                    "images": 4,
                    "image_bytes": 20_000,
                    "statics": 0,
                }
            )
    return rows


@pytest.fixture
def observed(tiny: Callable[..., Any]) -> Callable[..., Observed]:
    """A run folder of the rows, opened."""

    def write(rows: list[Row], **changes: Any) -> Observed:
        phases = [
            {"name": "ramp_up", "start_ns": 0, "end_ns": RAMP_UP},
            {"name": "runtime", "start_ns": RAMP_UP, "end_ns": RAMP_UP + RUNTIME},
            {
                "name": "ramp_down",
                "start_ns": RAMP_UP + RUNTIME,
                "end_ns": RAMP_UP + RUNTIME + RAMP_DOWN,
            },
        ]
        manifest = {"phases": phases, "rules": RULES, "load": {"users": USERS}, **changes}
        return tiny({"requests": rows}, **manifest)

    return write


@pytest.fixture
def judged(observed: Callable[..., Observed]) -> Callable[..., RunVerdict]:
    """The verdict on rows, read back from a run folder."""

    def judge(rows: list[Row], users: int | None = USERS) -> RunVerdict:
        opened = observed(rows)
        found = run_verdict(opened.db, opened.measured, opened.run.manifest.rules, users)
        assert found is not None
        return found

    return judge


def test_a_run_that_keeps_all_rules_passes(judged) -> None:
    verdict = judged(recorded())
    assert verdict.passed, verdict.broken
    assert verdict.broken == []
    assert verdict.throughput == pytest.approx(8, rel=0.01)
    assert {each.name: round(each.share, 2) for each in verdict.operations} == MIX
    ratio = next(each for each in verdict.checks if each.name == "users / throughput")
    assert ratio.value == pytest.approx(5, rel=0.01)


def slow(rows: list[Row]) -> None:
    """Fifteen of a hundred tag searches take longer than the limit."""
    tags = [row for row in rows if row["interaction"] == "Tag"]
    for row in random.Random(1).sample(tags, len(tags) * 15 // 100):
        row["end_ns"] = row["start_ns"] + 2 * S + 1


def other_mix(rows: list[Row]) -> None:
    """Every tenth home page is a tag search: five points."""
    for row in [row for row in rows if row["interaction"] == "Home"][::10]:
        row["interaction"] = "Tag"


def late(rows: list[Row]) -> None:
    """After home pages the next operation comes 3 % late, and the one after it by as much early."""
    for row in rows:
        if row["interaction"] in ("Tag", "Event"):
            row["start_ns"] += CYCLE * 3 // 100
            row["end_ns"] += CYCLE * 3 // 100


def few_attend(rows: list[Row]) -> None:
    for row in [row for row in rows if row["steps"] == "Event+Attend"][::2]:
        row["steps"] = "Event"


def set_images(operation: str, column: str, value: int) -> Callable[[list[Row]], None]:
    def change(rows: list[Row]) -> None:
        for row in rows:
            if row["interaction"] == operation:
                row[column] = value

    return change


def all_fail(rows: list[Row]) -> None:
    """Six of a hundred operations fail: those that are left are too few for the users."""
    for row in rows[::17]:
        row["error"] = "status_500"


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (slow, ["Tag: 90% took up to 2.02 s; the limit is 2 s."]),
        (other_mix, ["Home is 45.06% of the mix; 50.00% within 2 points are required."]),
        (
            late,
            ["Home: the mean cycle time was 5.150 s instead of 5.000 s (+3.0%); 2% are allowed."],
        ),
        (few_attend, ["attendees: 0.04; it must be at least 0.06."]),
        (set_images("Home", "images_named", 11), ["images of Home: 11; it must be at least 9.5"]),
        (set_images("Home", "images_named", 9), ["images of Home: 9; it must be at least 9.5"]),
        (set_images("Home", "images", 2), ["images loaded: 2; it must be at least 3."]),
        (
            set_images("Home", "image_bytes", 14_999),
            ["image bytes: 14999; it must be at least 15000."],
        ),
        (set_images("Tag", "images_named", 3), ["images of Tag: 3; it must be at least 3.6."]),
        (all_fail, ["users / throughput: 5.3"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_run_that_breaks_a_rule_fails_by_it(change, sentences, judged) -> None:
    rows = recorded()
    change(rows)
    verdict = judged(rows)
    assert not verdict.passed
    for sentence in sentences:
        assert any(each.startswith(sentence) for each in verdict.broken), verdict.broken
    expected = 2 if change in (other_mix, late) else 1
    # What one operation has too much, or too early, another has too little, or too late.
    assert 1 <= len(verdict.broken) <= expected + (change is late), verdict.broken


def test_only_what_began_and_ended_in_the_steady_state_counts(judged) -> None:
    rows = recorded()
    inside = [
        row for row in rows if row["start_ns"] >= RAMP_UP and row["end_ns"] < RAMP_UP + RUNTIME
    ]
    for row in rows:
        if row["start_ns"] < RAMP_UP or row["end_ns"] >= RAMP_UP + RUNTIME:
            row["error"], row["images_named"] = "status_500", 0
    # One that begins in the ramp-up and ends within is in no count, and neither is the other way.
    rows[0] |= {"start_ns": RAMP_UP - 1, "end_ns": RAMP_UP + S, "error": None}
    rows[-1] |= {"start_ns": RAMP_UP + RUNTIME - S, "end_ns": RAMP_UP + RUNTIME, "error": None}
    verdict = judged(rows)
    assert verdict.passed, verdict.broken
    assert sum(each.count for each in verdict.operations) == len(inside)
    assert sum(each.failed for each in verdict.operations) == 0


def test_failed_operations_are_in_no_share_and_no_time(judged) -> None:
    rows = recorded()
    for row in [row for row in rows if row["interaction"] == "Home"][::50]:
        row |= {"error": "request_timeout", "end_ns": row["start_ns"] + 60 * S}
    verdict = judged(rows)
    home = next(each for each in verdict.operations if each.name == "Home")
    assert home.failed == sum(
        row.get("error") is not None
        and row["start_ns"] >= RAMP_UP
        and row["end_ns"] < RAMP_UP + RUNTIME
        for row in rows
    )
    assert home.time_passed
    assert home.max_s == pytest.approx(0.2)


def test_what_never_came_fails_its_checks_but_no_limit(judged) -> None:
    rows = [row for row in recorded() if row["interaction"] != "Event"]
    verdict = judged(rows)
    event = next(each for each in verdict.operations if each.name == "Event")
    assert (event.count, event.time_passed, event.percentile_s) == (0, None, None)
    assert event.mix_passed is False
    assert "attendees: not measured; it must be at least 0.06." in verdict.broken


def test_an_open_loop_has_no_users_to_compare(judged) -> None:
    verdict = judged(recorded(), users=None)
    assert [each for each in verdict.broken if each.startswith("users")] == [
        "users / throughput: not measured; it must be at most 5.25."
    ]


def test_the_summary_and_its_words_have_the_verdict(observed) -> None:
    rows = recorded()
    passes = summarise(observed(rows))
    assert shortfalls(Objective(rules=True), passes) == []
    assert answer(passes).rules == ["The run passes by the rules of its benchmark."]
    other_mix(rows)
    fails = summarise(observed(rows))
    assert fails.rules is not None
    assert len(fails.rules.broken) == 2
    assert shortfalls(Objective(rules=True), fails) == fails.rules.broken
    assert shortfalls(Objective(), fails) == []
    assert answer(fails).rules == [
        "The run does not pass by the rules of its benchmark: Home is 45.06% of the mix; 50.00%"
        " within 2 points are required. (and 1 more)"
    ]


def test_several_systems_have_verdicts_of_their_own(observed) -> None:
    rows = [row | {"system": "good"} for row in recorded()]
    other = [row | {"system": "bad", "user": row["user"] + USERS} for row in recorded()]
    set_images("Home", "images", 2)(other)
    part = {"workload": "olio", "load": {"users": USERS}, "rules": RULES}
    summary = summarise(observed(rows + other, rules=None, systems={"good": part, "bad": part}))
    good, bad = (each.rules for each in summary.systems)
    assert (good.passed, bad.passed, summary.rules) == (True, False, None)
    assert shortfalls(Objective(rules=True), summary) == [
        "bad: images loaded: 2; it must be at least 3."
    ]


def test_a_workload_without_rules_has_no_verdict(tiny) -> None:
    summary = summarise(tiny({"requests": [recorded()[0]]}))
    assert summary.rules is None
    (said,) = shortfalls(Objective(rules=True), summary)
    assert said.startswith("The rules cannot be judged")


def fabans(times_ns: list[int], largest_ns: int, share: float) -> int | None:
    """Faban's own way to a percentile, step by step in whole numbers: the oracle."""
    fine = largest_ns // 200
    ends = [fine * n for n in range(1, 301)]
    ends += [ends[-1] + 10 * fine * n for n in range(1, 70)]
    counts = [0] * 370
    for time in times_ns:
        counts[next((n for n, end in enumerate(ends) if time < end), 369)] += 1
    upto = 0
    for n, count in enumerate(counts):
        upto += count
        if upto >= int(len(times_ns) * share):
            return ends[n] if n < 369 else None
    raise AssertionError


@pytest.mark.parametrize("scale_s", [0.05, 0.5, 5, 50])
def test_percentiles_are_those_of_fabans_buckets(scale_s, tiny) -> None:
    drawn = np.random.default_rng(1).exponential(scale_s * S, 997).astype(np.int64)
    buckets = Buckets(4 * S)
    observed = tiny(
        {
            "requests": [
                {"start_ns": 0, "end_ns": int(t), "intended_ns": 0, "interaction": "a"}
                for t in drawn
            ]
        }
    )
    sql = (
        f"SELECT {buckets.sql('(end_ns - start_ns)')} AS b, count(*) AS n FROM requests GROUP BY b"
    )
    counts = [0] * BUCKETS
    for bucket, count in observed.db.execute(sql).fetchall():
        counts[bucket] = count
    for share in (0.5, 0.9, 0.99, 0.999):
        found = buckets.percentile(counts, share)
        assert found.upto_ns == fabans(drawn.tolist(), 4 * S, share)
        if found.upto_ns is None:
            assert found.beyond_ns == 19_800_000_000, "69 coarse buckets beyond 1.5 times the limit"
            assert not found.within(10**18)


def test_a_percentile_exactly_at_the_limit_keeps_it() -> None:
    buckets = Buckets(4 * S)
    counts = [0] * BUCKETS
    counts[49] = 10
    assert buckets.percentile(counts, 0.9).upto_ns == 1 * S
    assert buckets.percentile(counts, 0.9).within(1 * S)
    counts[49], counts[50] = 8, 2
    assert not buckets.percentile(counts, 0.9).within(1 * S)
