"""Olio's users as the driver gets them: the published matrix, and the shares that it leads to."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pandas as pd
import pytest

from tests.drive.driving import Driver
from tests.figures import figure
from tests.pace import pace
from tierlab.errors import UserError
from tierlab.workloads.olio import shape
from tierlab.workloads.olio.operations import CYCLE_NS
from tierlab.workloads.olio.population import Population
from tierlab.workloads.olio.users import MIX, matrix, users
from tierlab.workloads.sessions.delay import with_cycle
from tierlab.workloads.sessions.description import FIDELITIES

POPULATION = Population(25, date(2026, 11, 20))
DERIVED = {
    "HomePage": 0.2615,
    "Login": 0.1022,
    "TagSearch": 0.3345,
    "EventDetail": 0.2468,
    "PersonDetail": 0.0261,
    "AddPerson": 0.0084,
    "AddEvent": 0.0204,
}
"""Shares derived from the published matrix elsewhere."""
POINT = 0.01
LEAST_OPERATIONS = 1_000
FASTER = 250


def test_the_matrix_is_the_published_one() -> None:
    rows = matrix()
    assert list(rows) == list(DERIVED)
    for row in rows.values():
        assert list(row) == list(DERIVED)
        assert sum(row.values()) == pytest.approx(1)
    assert rows["HomePage"]["TagSearch"] == 0.52
    assert rows["Login"]["AddEvent"] == 0.20


@pytest.mark.parametrize("fidelity", FIDELITIES)
def test_every_state_that_is_named_is_there(fidelity) -> None:
    described = json.loads(json.dumps(users(MIX, fidelity, POPULATION)))
    names = {state["name"] for state in described["states"]}
    (kind,) = described["sessions"]
    assert set(kind["transitions"]) == set(DERIVED) < names
    steps = {
        step["state"]
        for state in described["states"]
        for step in (*state.get("before", ()), *state.get("after", ()))
    }
    assert steps == names - set(DERIVED)
    for file in described["files"]:
        assert Path(file["path"]).is_file()


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(UserError, match="choose cloudstone"):
        users("browsing", "corrected", POPULATION)


@pytest.fixture
def site() -> Iterator[int]:
    """The port of a small server."""
    command = [sys.executable, str(Path(__file__).with_name("small_site.py"))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield int(server.stdout.readline())
        server.stdin.close()


@pytest.mark.slow
def test_operations_have_the_shares_of_the_stationary_mix(site: int, tmp_path: Path) -> None:
    driven = Driver(tmp_path / "drive")(
        site,
        with_cycle(users(MIX, "corrected", POPULATION), CYCLE_NS // FASTER),
        seconds=2 * pace(),
        users=25,
        connection="keep_alive",
        images=False,
    )
    requests = driven.requests
    assert requests.error.dropna().isin(["cut"]).all(), requests.error.dropna().unique()
    requests = requests[requests.error.isna()]
    assert len(requests) >= LEAST_OPERATIONS
    figure(f"{len(requests)} operations, {100 * most_off(requests):.2f} points off at most")
    for operation, share in DERIVED.items():
        measured = (requests.interaction == operation).mean()
        error = math.sqrt(share * (1 - share) / len(requests))
        assert abs(measured - share) < POINT + 3 * error, (operation, measured)


@pytest.mark.slow
def test_home_pages_have_the_pictures_that_the_published_client_loads(
    site: int, tmp_path: Path
) -> None:
    """Ten at the first home page of a session, which logging out ends, and none at the others;
    files that were there from before are asked for with each page, others once.
    """
    driven = Driver(tmp_path / "drive")(
        site,
        with_cycle(users(MIX, "corrected", POPULATION), CYCLE_NS // 100),
        seconds=1.5,
        users=6,
        connection="keep_alive",
    )
    requests = driven.requests
    again: set[int] = set()
    for _, rows in requests[requests.error.isna()].sort_values("start_ns").groupby("user"):
        logged_in = seen = False
        for row in rows.itertuples():
            if row.interaction in ("Login", "AddPerson"):
                seen &= not logged_in
                logged_in = row.interaction == "Login"
            if row.interaction == "HomePage":
                assert (row.images_named, row.images) == (10, 0 if seen else 10)
                again |= {row.statics} if seen else set()
                seen = True
    assert again == {0, len(shape.PAGE_STATICS)}


def most_off(requests: pd.DataFrame) -> float:
    shares = requests.interaction.value_counts(normalize=True)
    return max(abs(shares.get(operation, 0.0) - share) for operation, share in DERIVED.items())
