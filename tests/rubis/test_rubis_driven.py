"""The real application under the real driver: the published mix arrives, and so do the rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from tests.drive.driving import Driver
from tests.figures import figure
from tests.pace import pace
from tierlab.workloads.rubis.population import Population
from tierlab.workloads.rubis.users import users
from tierlab.workloads.sessions.description import Fidelity

from .databases import SCALE, Server, today
from .php import Rubis
from .sessions_played import request_shares
from .test_rubis_mix import derived_shares

pytestmark = [pytest.mark.environments, pytest.mark.slow]
WRITTEN = {
    "StoreBid": "bids",
    "StoreBuyNow": "buy_now",
    "StoreComment": "comments",
    "RegisterItem": "items",
    "RegisterUser": "users",
}
CASES = (
    ("mariadb", "corrected", "bidding"),
    ("postgresql", "corrected", "bidding"),
    ("postgresql", "corrected", "browsing"),
    ("mariadb", "published", "bidding"),
)
POINT = 0.01
SECONDS = 2
LEAST_REQUESTS = 300


def whole_sessions(requests: pd.DataFrame) -> pd.DataFrame:
    """The same number of first sessions of every user, whole: a sample that time cannot bias."""
    ended = requests[requests.session < requests.groupby("user").session.transform("max")]
    number = ended.session - ended.user.astype("int64") * 1_000_000
    least = number.groupby(ended.user).max().reindex(requests.user.unique(), fill_value=0).min()
    return ended[number <= least]


def off(requests: pd.DataFrame, expected: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """By how much each state's share is off, and its standard error.

    Pages of one session depend on each other: the ratio estimator over sessions (Cochran, Sampling
    Techniques, section 6.4), at least the error of as many independent pages.
    """
    sessions = pd.crosstab(requests.session, requests.interaction)
    lengths = sessions.sum(axis=1)
    total = lengths.sum()
    found = {}
    for state, share in expected.items():
        counts = sessions[state] if state in sessions else 0 * lengths
        measured = counts.sum() / total
        variance = (counts - measured * lengths).var(ddof=1) * len(lengths) / total
        error = math.sqrt(max(variance, share * (1 - share)) / total)
        found[state] = (measured - share, error)
    return found


@pytest.mark.parametrize(("database", "fidelity", "mix"), CASES, indirect=["database"])
def test_the_published_mix_arrives_and_what_users_write(
    fidelity: Fidelity,
    mix: str,
    database: Server,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    app: Rubis = request.getfixturevalue("app" if fidelity == "corrected" else "published")

    def rows() -> dict[str, int]:
        return {
            page: database.value(f"SELECT COUNT(*) FROM {table}") for page, table in WRITTEN.items()
        }

    described = users(mix, fidelity, Population(SCALE, today()))
    before = rows()
    driven = Driver(tmp_path / "drive")(
        app.port,
        described,
        seconds=SECONDS * pace(),
        think_ms=0,
        users=10,
        images=False,
        grace_ns=20_000_000_000,
        # One of its own, so that nobody registers under a name that an earlier case took.
        seed=1 + (fidelity == "published"),
    )
    requests = driven.requests
    assert requests.error.isna().all(), requests.error.dropna().unique()
    pages = requests.interaction.value_counts()
    for page, count in rows().items():
        stored = count - before[page]
        # Here and there an auction ends, another bids more or a name is taken while its user looks
        # at the form; the faster the machine, the more of the ten look at one at the same time.
        assert 0.95 * pages.get(page, 0) - 1 <= stored <= pages.get(page, 0), page
    whole = whole_sessions(requests)
    expected = request_shares(described, 40_000) if fidelity == "corrected" else derived_shares(mix)
    assert len(whole) >= LEAST_REQUESTS
    found = off(whole, expected)
    state = max(expected, key=lambda state: abs(found[state][0]))
    figure(f"{len(whole)} requests, most off: {state} by {100 * found[state][0]:.2f} points")
    for state, (by, error) in found.items():
        assert abs(by) < POINT + 3 * error, (state, by, error)
