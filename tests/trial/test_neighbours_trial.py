"""A web server beside neighbours that compute and rest by turns, up to the study's page."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

import tierlab as api
from tests.command import Start
from tests.conftest import host
from tests.trial.left import check_clean_clears, check_nothing_left

pytestmark = [
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(not os.sched_getaffinity(0) >= {0, 1}, reason="needs PUs 0 and 1"),
]

FILE = """
[experiment]
name = "t"
[system]
workload = "static"
[system.web]
mpm = "prefork"
mapping = { place = "pu:0-1", vcpus = 2 }
[load]
users = 4
think = "5ms"
images = false
phases = { ramp_up = "0s", runtime = "6s", ramp_down = "0s" }
[factors]
"system.neighbours" = [
    { count = 1, vcpus = 2, place = "pu:0-1" },
    { count = 2, vcpus = 2, place = "pu:0-1" },
]
[[change]]
at = "3s"
on = "neighbours"
vcpus = 1
"""
PUBLISHED = """
run_s = 1
[paper]
title = "T"
author = "A"
where = "W"
testbed = "there"
here = "here"
[[claims]]
figure = "1"
seen = "It was unstable."
value = "1"
measure = "unstable turns"
agrees = { least = 0 }
[[cases]]
name = "one"
levels = { "system.neighbours" = { count = 1, vcpus = 2, place = "pu:0-1" } }
[[cases]]
name = "two"
levels = { "system.neighbours" = { count = 2, vcpus = 2, place = "pu:0-1" } }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "t.toml").write_text(FILE)
    (tmp_path / "t.published.toml").write_text(PUBLISHED)
    return tmp_path / "t.toml"


@pytest.mark.environments
def test_a_study_of_turns_ends_in_a_page_and_leaves_nothing(
    tierlab: Start, file: Path, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("study", file, "--json")
    ended = command.end()
    assert ended.status == 0, ended.stderr
    for trial in ("001", "002"):
        check_nothing_left(command, tmp_path, before, trial)

    comparison = json.loads(ended.stdout)
    assert (tmp_path / "runs" / "t" / "study.html").exists()
    # 1/2 and 1 on one PU, and then 1/3 and 1.
    assert [case["dnu"] for case in comparison["cases"]] == pytest.approx([1 / 6, 1 / 3])
    assert [len(case["runs"]) for case in comparison["cases"]] == [6, 6]
    assert comparison["rows"][0]["measured"]["value"] > 0
    run = api.open(tmp_path / "runs" / "t" / "001")
    assert run.manifest.mapping["web.1"]["found"]["pus"] == [0, 1]
    with run.connect() as db:
        ((detail,),) = db.execute("SELECT detail FROM events WHERE kind = 'change'").fetchall()
    assert json.loads(detail) == {"asked": {"vcpus": 1}, "found": {"vcpus": 1}}


def test_a_trial_that_is_killed_while_a_neighbour_rests_can_be_cleaned_up(
    tierlab: Start, file: Path, tmp_path: Path
) -> None:
    before = host()
    file.write_text(FILE.replace('at = "3s"', 'at = "500ms"'))
    command = tierlab("run", file)
    command.wait_for("runtime")
    # The change is written down once it is made.
    log = tmp_path / "runs" / "t" / "001" / "logs" / "changes.jsonl"
    while not log.exists():
        assert command.process.poll() is None
        time.sleep(0.02)
    command.signal(signal.SIGKILL)
    command.end()
    check_clean_clears(command, tierlab, tmp_path, before)
