"""What the disturbing agent is told, what it tells, and where the truth lies: without a system."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trial.conftest import EXPERIMENT
from tierlab.cli.truth import told
from tierlab.deploy.layout import layout
from tierlab.deploy.system import Subject
from tierlab.environments.addresses import LOOPBACK
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.experiment.disturb_classes import CLASSES, KINDS
from tierlab.experiment.file import read_tables
from tierlab.servers.database import Credentials
from tierlab.tables.folder import create
from tierlab.trial.disturb_needs import check_disturbances, possible_classes
from tierlab.trial.disturb_plan import disturb
from tierlab.trial.truth import TruthFolder

S = 10**9
LOGIN = Credentials("rubbos", "secret", "rubbos")


def trial(tmp_path: Path, *tables: dict[str, Any]) -> TrialPlan:
    file = tmp_path / "t.toml"
    file.write_text(EXPERIMENT.format(name="t", users=10, up=5, run=300, down=1))
    return Experiment.from_tables(read_tables(file) | {"disturb": list(tables)}).trials()[0]


def planned(tmp_path: Path, **table: Any) -> dict[str, Any]:
    return of_agent(trial(tmp_path, table | {"at": "7s"}), tmp_path)


def of_agent(plan: TrialPlan, tmp_path: Path) -> dict[str, Any]:
    subjects = [
        Subject(place, {}, (1,), tmp_path / place.name, Placement(), Placement(), LOGIN)
        for place in layout(plan.system, LOOPBACK).values()
    ]
    plan_of_agent = disturb(plan.disturb, 100 * S, subjects, plan.system, LOOPBACK)
    (only,) = plan_of_agent["disturbances"]
    return dict(only)


def test_times_are_absolute_and_the_server_is_where_it_listens(tmp_path: Path) -> None:
    it = planned(tmp_path, **{"class": "freeze"}, on="app.1", duration="250ms")

    assert (it["start_ns"], it["duration_ns"]) == (107 * S, S // 4)
    assert (it["address"], it["port"], it["pids"]) == ("127.0.2.1", 8009, [1])
    assert (it["folder"], it["protocol"]) == (str(tmp_path / "app.1"), "ajp")


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        (
            {"class": "lock"},
            {"table": "stories", "rows": 0, "user": "rubbos", "protocol": "mysql"},
        ),
        ({"class": "pool"}, {"resource": "pool", "hold": 64}),
        (
            {"class": "pool", "on": "app.1", "resource": "threads"},
            {"resource": "threads", "hold": 200, "protocol": "ajp", "whole_head": True},
        ),
        (
            {"class": "pool", "on": "web.1", "hold": 9},
            {"hold": 9, "protocol": "http", "whole_head": False},
        ),
        ({"class": "pool", "on": "db.1"}, {"resource": "max_connections", "hold": 300}),
        ({"class": "network", "rate": "8KiB"}, {"rate": 8192}),
        ({"class": "loss", "share": 0.25}, {"share": 0.25}),
        ({"class": "restart"}, {"signal": 1}),
        ({"class": "checkpoint"}, {"dirty": 16 << 20, "user": "rubbos", "protocol": "mysql"}),
        ({"class": "cold_cache"}, {"user": "rubbos", "protocol": "mysql"}),
        (
            {"class": "slow_clients", "clients": 500},
            {"clients": 500, "path": "/rubbos/images/logo.png", "sources": "127.160.0.0"},
        ),
    ],
)
def test_each_class_is_told_what_it_needs(
    table: dict[str, Any], keys: dict[str, Any], tmp_path: Path
) -> None:
    assert keys.items() <= planned(tmp_path, **table).items()


def test_the_agent_has_no_part_in_what_a_hypervisor_does(tmp_path: Path) -> None:
    steal, freeze = ({"class": kind, "on": "db.1", "at": "7s"} for kind in ("steal", "freeze"))
    plan = trial(tmp_path, steal, freeze)
    assert [each.what.class_ for each in plan.disturb] == ["steal", "freeze"]
    assert of_agent(plan, tmp_path)["class"] == "freeze"


@pytest.mark.parametrize("kind", ["burst", "slow_clients"])
def test_users_who_come_besides_call_the_site_by_its_name(kind: str, tmp_path: Path) -> None:
    told = []
    for keys in ({}, {"host": "shop.example"}):
        web = {"command": "/bin/sleep 1", "port": 8080, **keys}
        (plan,) = Experiment.from_tables(
            {
                "experiment": {"name": "e"},
                "system": {"workload": "own", "web": web, "sessions": {"start": "/"}},
                "load": {"users": 1},
                "disturb": [{"class": kind, "on": "web.1", "at": "1s"}],
            }
        ).trials()
        told.append(of_agent(plan, tmp_path).get("host"))
    assert told == [None, "shop.example"]


@pytest.mark.parametrize("kind", CLASSES)
def test_the_truth_of_every_class_is_a_sentence(kind: str, tmp_path: Path) -> None:
    (drawn,) = trial(tmp_path, {"class": kind}).disturb
    of_agent = not KINDS[kind].by_hypervisor
    it = planned(tmp_path, **{"class": kind}) if of_agent else drawn.what.intensity
    truth = TruthFolder.of(tmp_path / "001")
    truth.create([drawn])
    line = {
        "id": 1,
        "class": kind,
        "subject": drawn.what.on,
        "start_ns": 107 * S,
        "end_ns": 108 * S,
        "intensity": it,
        "done": True,
        "error": None,
    }
    (truth.path / "truth.jsonl").write_text(json.dumps(line) + "\n")
    (tmp_path / "001").mkdir()
    phases = [{"name": "runtime", "start_ns": 100 * S, "end_ns": 200 * S}]
    manifest = {"experiment": "t", "trial": "1", "environment": "native", "workload": "rubbos"}
    text = json.dumps(manifest | {"created_ns": 0, "phases": phases})
    (tmp_path / "001" / "manifest.json").write_text(text)

    said = told(tmp_path / "001")

    assert said.startswith("The truth: ")
    assert drawn.what.on in said
    assert said.endswith(" for 1000 ms, 7.0 s into the runtime.")


def test_an_undisturbed_run_has_no_truth(tmp_path: Path) -> None:
    assert told(tmp_path / "001") == "Nothing was done to it on purpose."


def test_a_truth_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    truth = TruthFolder.of(tmp_path / "001")
    truth.create(())
    (truth.path / "truth.jsonl").write_text("{}\n")

    with pytest.raises(UserError, match=r"truth\.jsonl cannot be read .*: repeat the trial\.$"):
        truth.happened()


def test_a_truth_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "e" / "007.truth").mkdir(parents=True)

    assert create(tmp_path, "e").trial == "008"


@pytest.mark.parametrize(
    ("wanted", "classes"),
    [
        (Capability.STEAL, {"steal"}),
        (Capability.MEMORY, {"memory"}),
        # What does not fit into memory is read again, from a disk that is made slow.
        (Capability.DISK, {"memory", "disk", "checkpoint", "cold_cache"}),
        (Capability.NETWORK, {"network", "loss"}),
    ],
)
def test_classes_are_possible_where_all_is_that_they_need(
    wanted: Capability, classes: set[str]
) -> None:
    probe = Probe("native", frozenset(), {wanted: ""}, frozenset({0}), 1 << 34, frozenset({0}))
    assert set(possible_classes(probe)) == set(CLASSES) - classes


def test_what_this_host_cannot_have_is_one_sentence(tmp_path: Path) -> None:
    lacking = {Capability.MEMORY: "there is no such controller"}
    probe = Probe("native", frozenset(), lacking, frozenset({0}), 1 << 34, frozenset({0}))

    check_disturbances(trial(tmp_path, {"class": "disk"}), probe)
    with pytest.raises(UserError) as raised:
        check_disturbances(trial(tmp_path, {"class": "memory"}), probe)
    assert str(raised.value) == (
        "disturb: memory on db.1 cannot be had here, because there is no such controller; choose"
        " among the classes cpu, disk, freeze, gc, lock, pool, burst, network, loss,"
        " quota, weight, restart, checkpoint, cold_cache, slow_clients, steal."
    )
