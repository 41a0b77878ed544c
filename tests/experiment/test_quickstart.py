"""The short file of the design loads as it is, and means what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tierlab.experiment import load

QUICKSTART = """\
[experiment]
name = "quickstart"
question = "Where does the time go at 3,500 users?"

[system]
workload = "rubbos"                     # its own tiers unless said otherwise
environment = "native"

[load]
users = 3500
mix = "read-write"
phases = { ramp_up = "20s", runtime = "60s", ramp_down = "5s" }
"""

RICH = (
    QUICKSTART
    + """
[system.db]
server = "mariadb"
count = 4
memory = "2GiB"
mapping = { pus = [1, 0], weight = 512 }

[system.web]
mpm = "prefork"
soft = { threads = 96 }

[factors]
"system.app.soft.threads" = [10, 25, 50, 100, 200]
repeat = 3

[objective]
p99 = "500ms"
errors = 0.001
"""
)


def written(folder: Path, text: str) -> Path:
    path = folder / "experiment.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_quickstart_is_one_trial_with_the_stated_load(tmp_path: Path) -> None:
    experiment = load(written(tmp_path, QUICKSTART))

    (plan,) = experiment.trials()

    assert (plan.experiment, plan.trial, plan.levels) == ("quickstart", "001", {})
    assert plan.question == "Where does the time go at 3,500 users?"
    assert (plan.load.users, plan.load.rate, plan.load.mix) == (3500, None, "read-write")
    phases = plan.load.phases
    assert (phases.ramp_up_ns, phases.runtime_ns, phases.ramp_down_ns) == (
        20_000_000_000,
        60_000_000_000,
        5_000_000_000,
    )


def test_what_is_not_said_has_the_workloads_own_tiers_and_the_seeds_habits(tmp_path: Path) -> None:
    (plan,) = load(written(tmp_path, QUICKSTART)).trials()

    assert {name: (t.server, t.count) for name, t in plan.system.tiers.items()} == {
        "web": ("httpd", 1),
        "app": ("tomcat", 1),
        "lb": ("haproxy", 1),
        "db": ("mariadb", 1),
    }
    assert plan.load.pace(plan.system.application).think_ns == 7_000_000_000
    assert plan.load.connection == "per-request"
    assert plan.observe.interval_ns == 50_000_000
    assert plan.observe.messages


def test_richer_by_adding(tmp_path: Path) -> None:
    experiment = load(written(tmp_path, RICH))

    plans = experiment.trials()

    assert len(plans) == 15
    assert [plan.system.app.soft["threads"] for plan in plans[:5]] == [10, 25, 50, 100, 200]
    system = plans[0].system
    assert (system.db.count, system.db.memory) == (4, 2 * 1024**3)
    assert (system.db.mapping.pus, system.db.mapping.weight) == ((1, 0), 512)
    assert system.web.soft["threads_per_process"] == 1
    assert (experiment.objective.p99_ns, experiment.objective.errors) == (500_000_000, 0.001)


@pytest.mark.parametrize(
    ("soft", "threads_per_process", "pool"),
    [
        ("{ threads = 200 }", 50, 50),
        ("{ threads = 256 }", 64, 64),
        ("{ threads = 61 }", 61, 61),
        ("{ threads = 251, threads_per_process = 1 }", 1, 1),
        ("{ threads = 200, threads_per_process = 25 }", 25, 25),
        ("{ threads = 200, pool = 7 }", 50, 7),
    ],
)
def test_httpd_has_whole_processes(
    tmp_path: Path, soft: str, threads_per_process: int, pool: int
) -> None:
    text = f"{QUICKSTART}\n[system.web]\nsoft = {soft}\n"

    (plan,) = load(written(tmp_path, text)).trials()

    found = plan.system.web.soft
    assert (found["threads_per_process"], found["pool"]) == (threads_per_process, pool)


def test_a_plan_cannot_be_changed(tmp_path: Path) -> None:
    (plan,) = load(written(tmp_path, QUICKSTART)).trials()

    with pytest.raises(ValidationError, match="frozen"):
        plan.load.users = 1  # type: ignore[misc]
