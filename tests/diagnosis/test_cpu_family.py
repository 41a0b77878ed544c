"""Who does not get a CPU, and why: each member of the family is told from the others, and from the
queues and pools that it fills.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tierlab.analysis.observed import observe
from tierlab.diagnosis import diagnose
from tierlab.diagnosis.causes import quota
from tierlab.diagnosis.cpu_share import served_share, stolen, throttled
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.neighbour import outside
from tierlab.tables.run import Run
from tierlab.tables.schemas import INSIDE

from . import made_stall
from .made_stall import MS, STALL, TICK, Rows
from .signatures import diagnosed, pressed
from .test_echoes import context

FULL = [{"subject": f"cpu{n}", "busy": 1.0} for n in range(2)]
Signature = tuple[str, str, str, dict[str, Rows]]
SIGNATURES: dict[str, Signature] = {
    "a limit": (
        *("app.1", "quota", "app.1"),
        {
            "domain": [{"subject": "app.1", "throttled_ns": 45 * MS, "throttled_periods": 1}],
            "pressure": pressed("app.1", "cpu", 0.95),
        },
    ),
    "a limit that fills a pool": (
        *("app.1", "quota", "app.1"),
        {
            "domain": [{"subject": "app.1", "throttled_ns": 45 * MS, "throttled_periods": 1}],
            "pressure": pressed("app.1", "cpu", 0.95),
            "soft": [{"subject": "app.1", "resource": "pool", "in_use": 64, "waiting": 40}],
        },
    ),
    "time stolen": (
        *("db.1", "steal", "db.1"),
        {
            "cpu": [{"subject": f"cpu{n}", "busy": 0.4, "steal": 0.6} for n in range(2)],
            "pressure": pressed("db.1", "cpu", 0.7),
        },
    ),
    "too low a weight": (
        *("db.1", "weight", "db.1"),
        {
            "domain": [{"subject": "db.1", "weight": 16}],
            "pressure": pressed("db.1", "cpu", 0.95),
            "cpu": FULL,
        },
    ),
    "a neighbour in another server's domain": (
        *("db.1", "cpu", "app.1"),
        {
            "domain": [{"subject": "app.1", "cpu_ns": 85 * MS}],
            "pressure": pressed("db.1", "cpu", 0.95),
            "cpu": FULL,
        },
    ),
    "more work than CPU": (
        *("db.1", "overload", "app.1"),
        {
            "domain": [
                {"subject": "app.1", "cpu_ns": 60 * MS},
                {"subject": "db.1", "cpu_ns": 35 * MS},
            ],
            "process": [
                {"subject": "app.1", "run_ns": 60 * MS},
                {"subject": "db.1", "run_ns": 35 * MS},
            ],
            "pressure": pressed("db.1", "cpu", 0.95),
            "cpu": FULL,
        },
    ),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_member_is_known_by_its_signature(tmp_path, name, monkeypatch):
    stalled, cause, subject, samples = SIGNATURES[name]
    monkeypatch.setattr(made_stall, "usual", with_processes)
    monkeypatch.setattr(made_stall, "STALL", (STALL[0], STALL[0] + 600 * MS))
    found = diagnosed(made_stall.make(tmp_path, stalled, samples))
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, subject)]
    assert found.findings[0].confidence >= 0.7


USUAL = made_stall.usual


def with_processes():
    """What is usual, with the CPU time of each server's own process."""
    own = {"process": 1, "name": "own", "state": "S", "run_ns": 5 * MS}
    return USUAL() | {"process": [(name, own) for name in made_stall.SERVERS]}


def test_a_neighbour_is_told_from_the_servers_own_process(tmp_path, monkeypatch):
    """Both use CPU that no visit explains: a collector or a compiler of its own is no neighbour."""
    monkeypatch.setattr(made_stall, "usual", with_processes)
    used = [{"subject": "app.1", "cpu_ns": 95 * MS}]
    samples = {"domain": used, "pressure": pressed("app.1", "cpu", 0.95)}
    (other,) = diagnosed(made_stall.make(tmp_path / "other", "app.1", samples)).findings
    own = samples | {"process": [{"subject": "app.1", "run_ns": 95 * MS}]}
    (itself,) = diagnosed(made_stall.make(tmp_path / "own", "app.1", own)).findings
    assert (other.cause, itself.cause) == ("cpu", "unknown")


def test_what_moves_from_cpu_to_cpu_is_usual_at_none_and_no_neighbour(tmp_path):
    """The driver's thread kept one of 16 CPUs busy, another one each second."""
    folder = made_stall.make(tmp_path, "db.1")
    ends = sorted({row["t_ns"] for row in made_stall.read(folder, "cpu")})
    roaming = [
        {"t_ns": end, "dt_ns": made_stall.TICK, "subject": f"cpu{n}"}
        | {"busy": float((end - made_stall.START) // (1_000 * MS) % 16 == n)}
        for end in ends
        for n in range(16)
    ]
    made_stall.write(folder, "cpu", roaming)
    found = outside(context(folder, "db.1"))
    assert found == pytest.approx(0.0, abs=0.05)


def test_servers_on_other_cpus_are_no_neighbours(tmp_path):
    """What busies the CPUs of others holds nobody back who may not run there."""
    stalled, _, _, samples = SIGNATURES["a neighbour in another server's domain"]
    places = {"db.1": [0], "app.1": [1], "web.1": [1], "lb.1": [1]}
    mapping = {name: {"found": {"pus": pus}} for name, pus in places.items()}
    folder = made_stall.make(tmp_path, stalled, samples | {"cpu": FULL[1:]})
    made_stall.manifest().model_copy(update={"mapping": mapping}).write(folder)
    assert [each.cause for each in diagnosed(folder).findings] == ["unknown"]


def test_who_may_run_elsewhere_too_does_not_have_all_its_time_here(tmp_path, monkeypatch):
    """A job outside of all domains is on the web server's only CPU; app.1 has that and three more.
    All that app.1 used was charged to that one: an overload of app.1, which had room.
    """
    usual = USUAL()
    busy = {"cpu0": 0.7, "cpu1": 0.5, "cpu2": 0.4, "cpu3": 0.4}
    cpus = [(name, {"busy": share, "iowait": 0.0, "steal": 0.0}) for name, share in busy.items()]
    used = {"web.1": 15 * MS, "app.1": 80 * MS}
    domain = [(name, row | {"cpu_ns": used.get(name, 5 * MS)}) for name, row in usual["domain"]]
    monkeypatch.setattr(made_stall, "usual", lambda: usual | {"cpu": cpus, "domain": domain})
    samples = {
        "cpu": FULL[:1],
        "domain": [{"subject": "web.1", "cpu_ns": 7_500_000}],
        "pressure": pressed("web.1", "cpu", 0.95),
    }
    folder = made_stall.make(tmp_path, "web.1", samples)
    places = {"web.1": [0], "app.1": [0, 1, 2, 3], "lb.1": [1], "db.1": [1]}
    mapping = {name: {"found": {"pus": pus}} for name, pus in places.items()}
    made_stall.manifest().model_copy(update={"mapping": mapping}).write(folder)
    found = diagnosed(folder)
    assert [(each.cause, each.subject) for each in found.findings] == [("cpu", "web.1")]
    here = context(folder, "web.1")
    assert outside(here) == pytest.approx(0.45)
    assert served_share(here) == pytest.approx(0.55)


def test_a_weight_that_was_not_sampled_is_the_one_read_back(tmp_path):
    """Older run folders have no such column."""
    stalled, cause, subject, samples = SIGNATURES["too low a weight"]
    folder = made_stall.make(tmp_path, stalled, samples)
    domain = made_stall.read(folder, "domain")
    made_stall.write(folder, "domain", [row | {"weight": None} for row in domain])
    mapping = {"db.1": {"found": {"pus": [0, 1], "weight": 16}}}
    made_stall.manifest().model_copy(update={"mapping": mapping}).write(folder)
    assert [(each.cause, each.subject) for each in diagnosed(folder).findings] == [(cause, subject)]


def test_a_limit_that_held_each_of_eight_cpus_back_a_little_is_no_cause(tmp_path):
    """The kernel sums over CPUs: 5 ms of 50 on each of them looked like 80 % of the time."""
    used = [{"subject": "app.1", "cpu_ns": 360 * MS, "throttled_ns": 40 * MS}]
    folder = made_stall.make(tmp_path, "app.1", {"domain": used})
    here = context(folder, "app.1")
    assert throttled(here) == pytest.approx(0.1, abs=0.001)
    assert quota.judge(here).least == pytest.approx(0.0, abs=0.01)
    assert "quota" not in {each.cause for each in diagnosed(folder).findings}


@pytest.mark.parametrize("length", [100 * MS, 200 * MS])
def test_a_short_limit_that_is_told_as_its_server_runs_again_is_seen(tmp_path, length):
    """On two CPUs: what was held back comes in a tick in which the queue is worked off."""
    folder = made_stall.make(tmp_path, "app.1")
    first, end = STALL[0], STALL[0] + length
    rows = made_stall.read(folder, "domain")
    for row in rows:
        if row["subject"] == "app.1" and first < row["t_ns"] <= end:
            row |= {"cpu_ns": 2 * MS, "throttled_ns": 0}
        elif row["subject"] == "app.1" and row["t_ns"] == end + TICK:
            row |= {"cpu_ns": 95 * MS, "throttled_ns": 2 * length - 8 * MS}
    made_stall.write(folder, "domain", rows)
    here = replace(context(folder, "app.1"), window=Window(start_ns=first, end_ns=end))
    assert throttled(here) > 0.9


def test_who_hardly_wants_to_run_is_hardly_held_back(tmp_path):
    """3 ms of 50, though it ran for 2 only."""
    used = [{"subject": "app.1", "cpu_ns": 2 * MS, "throttled_ns": 3 * MS}]
    folder = made_stall.make(tmp_path, "app.1", {"domain": used})
    assert throttled(context(folder, "app.1")) == pytest.approx(0.06, abs=0.001)


def with_guests(folder: Path, *stolen_from: dict[str, Any]) -> Path:
    """Have `app.1` and `webapp.1` in guests with a virtual CPU each."""
    schema, share = INSIDE["inside_cpu"], {"busy": 0.4, "steal": 0.0}
    with pq.ParquetWriter(folder / "inside_cpu.parquet", schema) as file:
        for name in ("app.1", "webapp.1"):
            file.write_table(made_stall.ticks(schema, f"{name}/cpu0", share, list(stolen_from)))
    return folder


def test_time_stolen_from_a_guest_of_a_longer_name_is_not_its_own(tmp_path):
    """A guest of `webapp.1` has the name of `app.1` in its CPUs' names."""
    folder = with_guests(
        made_stall.make(tmp_path, "app.1"), {"subject": "webapp.1/cpu0", "steal": 0.6}
    )
    assert stolen(context(folder, "app.1")) == pytest.approx(0.0)


def test_of_time_stolen_from_a_guests_own_cpus_its_threads_need_not_be_asked(tmp_path):
    """The confidence was 0.27 where nine tenths were stolen, as nobody counts who waits there."""
    folder = with_guests(
        made_stall.make(tmp_path, "app.1"), {"subject": "app.1/cpu0", "steal": 0.9}
    )
    for table in ("pressure", "domain"):
        (folder / f"{table}.parquet").unlink()
    (found,) = diagnose(observe(Run(folder))).findings
    assert (found.cause, found.tier) == ("steal", "app")
    assert found.confidence > 0.8
