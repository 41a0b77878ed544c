"""Links of nginx, PHP-FPM and PostgreSQL: by id, and without ids at 100 requests under way."""

from __future__ import annotations

import os

import pytest

from tests.figures import figure

from .crowd import kept_visits, link
from .score import at, compare

CALLS = {"web.1": ["app.1"], "app.1": ["db.1"]}
CROWD = 100
EXPERIMENT = """
[experiment]
name = "crowd"
[system]
workload = "rubis"
scale = 0.001
[load]
users = 130
think = "0s"
connection = "keep-alive"
images = false
phases = { ramp_up = "1s", runtime = "1s", ramp_down = "0s" }
"""
"""PHP-FPM has as many workers as there are users: all have a request under way."""


@pytest.mark.environments
@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_inference_without_ids_at_100_requests_under_way(tmp_path):
    raw = kept_visits(EXPERIMENT, tmp_path)
    by_ids = link(raw, CALLS, tmp_path / "ids", hide_ids=False)
    without = link(raw, CALLS, tmp_path / "hidden", hide_ids=True)
    assert [pair["by_id"] for pair in without.summary["pairs"]] == [0, 0]
    for server in ("app.1", "db.1"):
        asked = [row for row in at(by_ids.visits, server).to_pylist() if row["label"] != "LOGIN"]
        share = sum(row["link"] == "id" for row in asked) / len(asked)
        figure(f"{server}: {len(asked)} visits, {share:.2%} linked by id")
        assert share >= 0.99
        score, _, _ = compare(by_ids, without, server, CROWD)
        figure(
            f"{server} at {score.under_way:.0f} requests under way: {score.visits} visits, "
            f"right {score.right:.2%}, false links {score.false:.2%}"
        )
        assert score.visits > 300
        assert score.right >= 0.95
        assert score.false <= 0.01
