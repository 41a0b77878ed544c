"""RUBiS's users as the driver gets them: tables, shares and forms."""

from __future__ import annotations

import csv
import json
from datetime import date
from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.workloads.rubis.places import CATEGORIES, REGIONS
from tierlab.workloads.rubis.population import Population
from tierlab.workloads.rubis.users import MIXES, PACKAGE, users
from tierlab.workloads.sessions.description import FIDELITIES
from tierlab.workloads.sessions.transitions import transitions

from .sessions_played import request_shares

POPULATION = Population(0.01, date(2026, 3, 10))
PUBLISHED_SUMS = {
    "browse-only": {"SearchItemsInCategory": 1.198, "ViewItem": 1.198, "AboutMe": 1.16},
    "default": {
        **{"Home": 0.97, "Register": 0.9979, "RegisterUser": 0.99, "Browse": 1.0021},
        **{"SearchItemsInCategory": 1.2079, "ViewItem": 1.2079, "AboutMe": 1.168},
    },
}
"""Some columns that do not sum to 1."""
REACHED = {"browsing": 10, "bidding": 26}


def derived_shares(mix: str) -> dict[str, float]:
    """Of 3,000,000 simulated requests of the published client, on pages that never fail."""
    with Path(__file__).with_name("rubis_derived_shares.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["mix"] == mix]
    return {row["state"]: float(row["percent_of_requests"]) / 100 for row in rows}


@pytest.mark.parametrize("table", PUBLISHED_SUMS)
def test_published_columns_are_not_touched(table: str) -> None:
    columns = transitions(PACKAGE, table)
    assert len(columns) == 27
    for state, expected in PUBLISHED_SUMS[table].items():
        assert round(sum(columns[state].values()), 6) == expected


@pytest.mark.parametrize("mix", MIXES)
def test_request_shares_are_the_published_ones(mix: str) -> None:
    shares = request_shares(users(mix, "published", POPULATION), sessions=4_000)
    expected = derived_shares(mix)
    assert set(shares) == set(expected)
    assert sum(share > 0 for share in shares.values()) == REACHED[mix]
    assert max(abs(shares[state] - expected[state]) for state in shares) < 0.01


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_every_description_can_be_played(mix, fidelity) -> None:
    described = json.loads(json.dumps(users(mix, fidelity, POPULATION)))
    names = {state["name"] for state in described["states"]}
    assert len(names) == 27
    (kind,) = described["sessions"]
    assert set(kind["transitions"]) == names
    for column in kind["transitions"].values():
        assert {to for to, _ in column} <= names | {"Back", "End"}
        if fidelity == "corrected" and column:
            assert sum(p for _, p in column) == pytest.approx(1)


def test_the_corrected_user_writes_and_logs_in_by_post() -> None:
    posting = {
        state["name"]
        for state in users("bidding", "corrected", POPULATION)["states"]
        if state.get("method") == "POST"
    }
    secret = {
        state["name"]
        for state in users("bidding", "corrected", POPULATION)["states"]
        if any("password" in parameter["name"] for parameter in state.get("parameters", ()))
    }
    stored = {"RegisterUser", "StoreBuyNow", "StoreBid", "StoreComment", "RegisterItem"}
    assert posting == stored | secret
    published = users("bidding", "published", POPULATION)["states"]
    assert {state.get("method", "GET") for state in published} == {"GET"}


def test_there_are_as_many_places_as_published() -> None:
    assert len(set(CATEGORIES)) == 20
    assert len(set(REGIONS)) == 62


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(UserError, match="choose one of browsing, bidding"):
        users("read-write", "corrected", POPULATION)
