"""What the agents are told."""

from __future__ import annotations

from pathlib import Path

from tierlab.deploy.layout import Place
from tierlab.deploy.system import Subject
from tierlab.environments.addresses import LOOPBACK
from tierlab.environments.placement import Placement
from tierlab.experiment import Experiment, Observe
from tierlab.observe import plans
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint

LOGIN = Credentials("rubbos", "secret", "rubbos")


def test_without_a_ramp_up_users_are_not_staggered_over_the_runtime() -> None:
    """The driver staggers over the first phase, whatever its name."""
    (trial,) = Experiment.from_tables(
        {
            "experiment": {"name": "e"},
            "system": {"workload": "rubbos"},
            "load": {"users": 1, "phases": {"ramp_up": "0s", "runtime": "2s"}},
        }
    ).trials()
    targets = [Endpoint("127.0.1.1", 8080, "http")]
    plan = plans.drive(trial, trial.systems[0], targets, Path("w.json"), LOOPBACK, login=LOGIN)
    assert plan["phases"][:2] == [
        {"name": "ramp_up", "duration_ns": 0},
        {"name": "runtime", "duration_ns": 2_000_000_000},
    ]


def test_who_sends_statements_logs_in_and_keeps_its_connection() -> None:
    (trial,) = Experiment.from_tables(
        {"experiment": {"name": "e"}, "system": {"workload": "tpch"}, "load": {"users": 1}}
    ).trials()
    targets = [Endpoint("127.0.1.1", 5432, "postgresql")]
    plan = plans.drive(trial, trial.systems[0], targets, Path("w.json"), LOOPBACK, login=LOGIN)
    assert plan["connection"] == "keep_alive"
    assert plan["targets"][0]["login"] == {
        "user": "rubbos",
        "password": "secret",
        "database": "rubbos",
    }


def test_users_call_a_site_by_the_name_that_the_file_of_a_user_s_own_says() -> None:
    web = {"command": "/bin/sleep 1", "port": 8080}
    told = []
    for keys in ({}, {"host": "shop.example"}):
        system = {"workload": "own", "web": web | keys, "sessions": {"start": "/"}}
        (trial,) = Experiment.from_tables(
            {"experiment": {"name": "e"}, "system": system, "load": {"users": 1}}
        ).trials()
        targets = [Endpoint("127.0.1.1", 8080, "http")]
        plan = plans.drive(trial, trial.systems[0], targets, Path("w.json"), LOOPBACK, login=LOGIN)
        told.append(plan["targets"])
    place = {"address": "127.0.1.1", "port": 8080}
    assert told == [[place], [place | {"host": "shop.example"}]]


def test_a_load_that_follows_a_curve_does_so_from_the_runtime_on() -> None:
    load = {"rate": 10.0, "phases": {"ramp_up": "3s", "runtime": "4s"}}
    targets = [Endpoint("127.0.1.1", 8080, "http")]
    told = []
    for shape in ({}, {"kind": "ramp", "low": 0.5}):
        (trial,) = Experiment.from_tables(
            {
                "experiment": {"name": "e"},
                "system": {"workload": "static"},
                "load": load | {"shape": shape},
            }
        ).trials()
        plan = plans.drive(
            trial, trial.systems[0], targets, Path("workload.json"), LOOPBACK, login=LOGIN
        )
        told.append(plan["shape"])
    assert told == [
        [],
        [{"at_ns": 3_000_000_000, "level": 0.5}, {"at_ns": 7_000_000_000, "level": 1.0}],
    ]


def test_a_slow_guest_is_sampled_as_much_more_seldom(tmp_path: Path) -> None:
    place = Place("db.1", "db", "mariadb", Endpoint("10.0.4.1", 3306, "mysql"))
    guest = Subject(place, {}, (7,), tmp_path, Placement(), Placement(), LOGIN, guest=True)
    observe = Observe()
    inside = plans.sample_inside(observe, guest, 15.0)
    assert inside["interval_ns"] == 15 * observe.interval_ns
    assert (inside["subjects"], len(inside["databases"]), len(inside["listen"])) == (
        [{"name": "db.1", "pids": [7]}],
        1,
        1,
    )
    assert plans.sample_inside(observe, guest, 1.5)["interval_ns"] == observe.interval_ns
    outside = plans.sample(observe, [guest])
    assert outside["subjects"] == [{"name": "db.1", "cgroups": {}, "pids": []}]
    assert not outside["listen"]
    assert set(outside["tables"]) == set(observe.samplers) - {"listen", "database"}
