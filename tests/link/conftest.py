"""Captures of the real four tiers, their raw visits kept: at about 200 requests under way with
Tomcat's threads and pool as shipped and with few threads and a small pool."""

from __future__ import annotations

from pathlib import Path

import pytest

from .crowd import Linked, kept_visits, link

SERVERS = {"web.1": ["app.1"], "app.1": ["lb.1"], "lb.1": ["db.1"]}

EXPERIMENT = """
[experiment]
name = "crowd"
[system]
workload = "rubbos"
scale = 0.02
[system.app.soft]
threads = {threads}
pool = {pool}
[load]
users = {users}
think = "0s"
connection = "keep-alive"
images = false
mix = "read-write"
phases = {{ ramp_up = "{up}s", runtime = "{run}s", ramp_down = "0s" }}
"""

BEDS = {
    "narrow": {"threads": 60, "pool": 10, "users": 225, "up": 2, "run": 4},
    "wide": {"threads": 200, "pool": 64, "users": 225, "up": 8, "run": 4},
}
"""By name: the soft resources of the application server, and the users, who never think: nearly all
have a request under way, on a slow machine as on a quick one. Of seconds of ramp-up and runtime the
wide one has more: what its pool says when it opens a connection is no request's, and while it opens
them and the application is not compiled yet, fewer are told apart."""


FURTHER = pytest.param("wide", marks=pytest.mark.environments)


@pytest.fixture(scope="session", params=["narrow", FURTHER])
def bed(request: pytest.FixtureRequest) -> str:
    """The name of a deployment."""
    return str(request.param)


@pytest.fixture(scope="session")
def raw_visits(bed: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Raw visits of a trial whose users never think: most have a request under way."""
    return kept_visits(EXPERIMENT.format(**BEDS[bed]), tmp_path_factory.mktemp("crowd"))


@pytest.fixture(scope="session")
def by_ids(raw_visits: Path, tmp_path_factory: pytest.TempPathFactory) -> Linked:
    """Linked by the ids that the requests carried: the truth."""
    return link(raw_visits, SERVERS, tmp_path_factory.mktemp("linked") / "ids", hide_ids=False)


@pytest.fixture(scope="session")
def without_ids(raw_visits: Path, tmp_path_factory: pytest.TempPathFactory) -> Linked:
    """Linked as if nothing had carried an id."""
    return link(raw_visits, SERVERS, tmp_path_factory.mktemp("linked") / "hidden", hide_ids=True)
