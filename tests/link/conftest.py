"""Captures of the real four tiers, their raw visits kept: at about 200 requests under way with
Tomcat's threads and pool as shipped and with few threads and a small pool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

from tierlab.observe.agent import binary

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
phases = {{ ramp_up = "10s", runtime = "6s", ramp_down = "0s" }}
"""

BEDS = {
    "narrow": {"threads": 60, "pool": 10, "users": 225},
    "wide": {"threads": 200, "pool": 64, "users": 225},
}
"""By name: the soft resources of the application server, and the users, who never think: nearly all
have a request under way, on a slow machine as on a quick one."""

KEEPING_AGENT = """#!/bin/sh
# The agent, but raw visits stay: a trial removes them once they are linked.
if [ "$1" = link ]; then ln "$5/raw_visits.arrows" "{kept}"; fi
exec "{agent}" "$@"
"""


@dataclass(frozen=True)
class Linked:
    """The table ``visits`` and the summary of one run of ``tierlab-agent link``."""

    visits: pa.Table
    summary: dict[str, Any]

    def pair(self, name: str) -> dict[str, Any]:
        """The summary of one pair of tiers."""
        pairs: list[dict[str, Any]] = self.summary["pairs"]
        return next(pair for pair in pairs if pair["pair"] == name)


def link(raw: Path, out: Path, *, hide_ids: bool) -> Linked:
    """Link raw visits."""
    out.mkdir()
    plan = out / "plan.json"
    plan.write_text(json.dumps({"input": str(raw), "servers": SERVERS, "hide_ids": hide_ids}))
    done = subprocess.run(
        [binary(), "link", "--plan", plan, "--out", out],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    with pa.OSFile(str(out / "visits.arrows"), "rb") as file, ipc.open_stream(file) as stream:
        visits = stream.read_all()
    return Linked(visits, json.loads(done.stdout.splitlines()[-1])["summary"])


@pytest.fixture(scope="session", params=BEDS)
def bed(request: pytest.FixtureRequest) -> str:
    """The name of a deployment."""
    return str(request.param)


@pytest.fixture(scope="session")
def raw_visits(bed: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Raw visits of a trial whose users never think: most have a request under way."""
    folder = tmp_path_factory.mktemp("crowd")
    kept = folder / "raw_visits.arrows"
    agent = folder / "agent"
    agent.write_text(KEEPING_AGENT.format(kept=kept, agent=binary()))
    agent.chmod(0o755)
    experiment = folder / "crowd.toml"
    experiment.write_text(EXPERIMENT.format(**BEDS[bed]))
    done = subprocess.run(
        [Path(sys.executable).parent / "tierlab", "run", experiment, "--runs", folder / "runs"],
        env={
            **os.environ,
            "TIERLAB_AGENT": str(agent),
            "XDG_STATE_HOME": str(folder / "state"),
            "NO_COLOR": "1",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert kept.exists(), done.stderr
    return kept


@pytest.fixture(scope="session")
def by_ids(raw_visits: Path, tmp_path_factory: pytest.TempPathFactory) -> Linked:
    """Linked by the ids that the requests carried: the truth."""
    return link(raw_visits, tmp_path_factory.mktemp("linked") / "ids", hide_ids=False)


@pytest.fixture(scope="session")
def without_ids(raw_visits: Path, tmp_path_factory: pytest.TempPathFactory) -> Linked:
    """Linked as if nothing had carried an id."""
    return link(raw_visits, tmp_path_factory.mktemp("linked") / "hidden", hide_ids=True)
