"""The real application under the real driver: sessions go through, and what they write arrives."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from functools import cache
from pathlib import Path

import pytest

from tests.drive.driving import Driver
from tests.pace import pace
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.users import users

from .application import running
from .conftest import SCALE
from .private_mariadb import PrivateMariaDB, free_port

pytestmark = pytest.mark.slow
WRITTEN = {
    "StoreComment": ("comments", "old_comments"),
    "RegisterUser": ("users",),
    "StoreModerateLog": ("moderator_log",),
}


CASES = list(itertools.product(("corrected", "published"), ("read-write", "author")))


@pytest.fixture(scope="module")
def ports(
    database: PrivateMariaDB, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], int]]:
    """Where an application of this fidelity listens, which is started once."""
    with ExitStack() as stack:

        @cache
        def port(fidelity: str) -> int:
            settings = {"jdbc.url": database.jdbc_url, "fidelity": fidelity, "pool.size": 10}
            folder = tmp_path_factory.mktemp(fidelity)
            return stack.enter_context(running(folder, free_port(), settings)).port

        yield port


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_what_users_write_arrives(
    case,
    ports: Callable[[str], int],
    database: PrivateMariaDB,
    load_day: date,
    tmp_path: Path,
) -> None:
    fidelity, mix = case
    # A seed of its own, so that nobody registers under a name that an earlier case took.
    seed = CASES.index(case) + 1

    def rows() -> dict[str, int]:
        return {
            page: sum(database.value(f"SELECT COUNT(*) FROM {table}") for table in tables)
            for page, tables in WRITTEN.items()
        }

    port = ports(fidelity)
    workload = users(mix, fidelity, Population(SCALE, load_day))
    before = rows()
    driven = Driver(tmp_path / "drive")(
        port,
        workload,
        seconds=1.5 * pace(),
        think_ms=100,
        users=60,
        grace_ns=20_000_000_000,
        seed=seed,
    )
    after = rows()
    requests = driven.requests
    assert requests.error.isna().all(), requests.error.dropna().unique()
    pages = requests.interaction.value_counts()
    assert pages["StoreComment"] > 0
    for page in WRITTEN:
        assert after[page] - before[page] == pages.get(page, 0), page
    # Most pages were reached by a link of the page before.
    assert pages.get("ViewStory", 0) + pages.get("ViewComment", 0) > len(requests) / 5
