"""RUBBoS's users as the driver gets them: tables, shares, rules and days."""

from __future__ import annotations

import json
from datetime import date

import pytest

from tierlab.errors import UserError
from tierlab.workloads.rubbos.users import MIXES, users
from tierlab.workloads.sessions.description import FIDELITIES
from tierlab.workloads.sessions.transitions import transitions

from .driving import POPULATION

PUBLISHED_SUMS = {
    "author-default": {"SubmitStory": 1.069, "Search": 0.998},
    "user-default": {"Register": 0.999, "SubmitStory": 1.138, "Search": 0.997},
    "user-default-no-search": {"Register": 0.9985, "SubmitStory": 1.1225},
    "browse-only": {"Browse": 0.995, "Search": 0.995, "ViewComment": 1.01},
    "browse-only-no-search": {"Browse": 0.99, "ViewComment": 1.01},
}
"""Columns of reachable states that do not sum to 1."""


@pytest.mark.parametrize("table", PUBLISHED_SUMS)
def test_published_columns_are_not_touched(table: str) -> None:
    columns = transitions("tierlab.workloads.rubbos", table)
    assert len(columns) == 24
    reached, waiting = {"StoriesOfTheDay"}, ["StoriesOfTheDay"]
    while waiting:
        following = {to for to, p in columns[waiting.pop()].items() if p > 0} - {"Back", "End"}
        waiting += following - reached
        reached |= following
    sums = {state: round(sum(columns[state].values()), 6) for state in reached}
    assert {state: total for state, total in sums.items() if total != 1} == PUBLISHED_SUMS[table]


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_every_description_can_be_played(mix, fidelity) -> None:
    described = json.loads(json.dumps(users(mix, fidelity, POPULATION)))
    names = {state["name"] for state in described["states"]}
    assert len(names) == 24
    assert sum(kind["share"] for kind in described["sessions"]) == pytest.approx(1)
    for kind in described["sessions"]:
        assert set(kind["transitions"]) == names
        for column in kind["transitions"].values():
            assert {to for to, _ in column} <= names | {"Back", "End"}
            if fidelity == "corrected" and column:
                assert sum(p for _, p in column) == pytest.approx(1)


def test_the_read_write_run_has_ten_percent_authors() -> None:
    for mix in ("read-write", "read-write-no-search"):
        kinds = users(mix, "corrected", POPULATION)["sessions"]
        assert {kind["name"]: kind["share"] for kind in kinds} == {"user": 0.9, "author": 0.1}


def test_the_published_week_turns_the_day_without_the_month() -> None:
    described = users("user", "published", POPULATION, today=date(2026, 3, 3))
    (older,) = (state for state in described["states"] if state["name"] == "OlderStories")
    rows = [tuple(map(int, row)) for row in older["row"]["rows"]]
    weights = dict(zip(rows, older["row"]["weights"], strict=True))
    # Seven days before 3 March: 27 March, because the month is not turned back.
    assert weights[27, 3, 2026] > 0.26
    assert weights[2, 3, 2026] > 0.20
    assert (28, 2, 2026) not in weights or weights[28, 2, 2026] < 0.001
    for day, month, year in rows:
        date(year, month, day)


def test_the_corrected_week_is_the_week_before_the_load() -> None:
    described = users("user", "corrected", POPULATION)
    (older,) = (state for state in described["states"] if state["name"] == "OlderStories")
    weights = dict(zip(map(tuple, older["row"]["rows"]), older["row"]["weights"], strict=True))
    week = [weights[str(day), "3", "2026"] for day in range(3, 10)]
    assert sum(weights.values()) == pytest.approx(1)
    assert sum(week) > 0.96
    assert max(week) == pytest.approx(min(week))


def test_an_unknown_mix_gets_one_sentence() -> None:
    with pytest.raises(UserError, match=r"load\.mix.*'reading'.*read-write"):
        users("reading", "corrected", POPULATION)
    with pytest.raises(UserError, match="fidelity"):
        users("user", "exact", POPULATION)  # type: ignore[arg-type]
