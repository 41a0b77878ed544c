"""Trials of users that never think, whose raw visits are kept and linked with ids and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc

from tests.pace import pace
from tierlab.observe.agent import binary

KEEPING_AGENT = """#!/bin/sh
# The agent, but raw visits stay, and nothing is made of them that no test looks at.
if [ "$1" = link ]; then
    ln "$5/raw_visits.arrows" "{kept}"
    echo "kept for the test" >&2
    exit 1
fi
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


def link(
    raw: Path,
    servers: Mapping[str, list[str]],
    out: Path,
    *,
    hide_ids: bool,
    event_loops: Sequence[str] = (),
) -> Linked:
    """Link raw visits of servers, each with those that it calls."""
    out.mkdir()
    plan = out / "plan.json"
    plan.write_text(
        json.dumps(
            {
                "input": str(raw),
                "servers": servers,
                "hide_ids": hide_ids,
                "event_loops": list(event_loops),
            }
        )
    )
    done = subprocess.run(
        [binary(), "link", "--plan", plan, "--out", out],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    with pa.OSFile(str(out / "visits.arrows"), "rb") as file, ipc.open_stream(file) as stream:
        visits = stream.read_all()
    return Linked(visits, json.loads(done.stdout.splitlines()[-1])["summary"])


def kept_visits(experiment: str, folder: Path) -> Path:
    """Run an experiment named crowd; return its raw visits."""
    kept = folder / "raw_visits.arrows"
    agent = folder / "agent"
    agent.write_text(KEEPING_AGENT.format(kept=kept, agent=binary()))
    agent.chmod(0o755)
    file = folder / "crowd.toml"
    file.write_text(experiment)
    done = subprocess.run(
        [Path(sys.executable).parent / "tierlab", "run", file, "--runs", folder / "runs"],
        env={
            **os.environ,
            "TIERLAB_AGENT": str(agent),
            "XDG_STATE_HOME": str(folder / "state"),
            "NO_COLOR": "1",
        },
        capture_output=True,
        text=True,
        timeout=300 * pace(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert kept.exists(), done.stderr
    return kept
