"""Files of a user's own application: every mistake in one sentence, all of them at once."""

from __future__ import annotations

import copy
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_logged import line
from tests.own.test_recorded import entry
from tierlab.errors import UserError
from tierlab.experiment import Experiment, load
from tierlab.values.toml import as_toml

GOOD: dict[str, Any] = {
    "experiment": {"name": "e"},
    "system": {
        "workload": "own",
        "web": {
            "command": "sh run.sh",
            "port": 8000,
            "environment": {"DB": "{db.user}@{db}"},
        },
        "db": {"server": "postgresql"},
        "sessions": {"start": "/"},
    },
    "load": {"users": 10},
}
Change = dict[str, Any]


def changed(changes: Change) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    for dotted, value in changes.items():
        *path, key = dotted.split(".")
        table = document
        for name in path:
            table = table[name]
        if value is None:
            del table[key]
        else:
            table[key] = value
    return document


CASES: list[tuple[Change, str]] = [
    ({"system.web": None, "system.db": None}, "system needs a server, as in web = {"),
    ({"system.sessions": None}, "system.sessions is missing"),
    ({"system.web.command": None}, "system.web.command is missing"),
    ({"system.web.port": None}, "system.web.port is missing"),
    ({"system.web.port": 0}, "system.web.port must be a whole number from 1 to 65535, not 0"),
    ({"system.web.port": "8000"}, 'system.web.port must be a whole number from 1 to 65535, not "8'),
    ({"system.web.comand": "x"}, "system.web.comand is not a known key (did you mean command?)"),
    ({"system.web.command": ""}, 'system.web.command must be a command, not ""'),
    # Other servers have one: that it is meant would be no help.
    (
        {"system.db.address": "127.0.0.1"},
        "system.db.address is a key that postgresql does not have",
    ),
    # No `subjects` is in the file, so that none can be at fault.
    (
        {
            "system.environment": "host",
            "system.web": {"address": "127.0.0.1", "port": 8000},
            "system.db": None,
            "disturb": [{"class": "random"}],
        },
        "disturb[1] finds no server that its classes could disturb (none that runs already can be)",
    ),
    ({"system.web.command": "sh '"}, "system.web.command cannot be read (No closing quotation)"),
    (
        {"system.web.command": "no-such-program"},
        'system.web.command names "no-such-program", a program that is not on this machine',
    ),
    (
        {"system.web.command": "RAILS_ENV=production exec no-such-program"},
        'system.web.command names "no-such-program", a program that is not on this machine',
    ),
    ({"system.web.command": "./none"}, "system.web.command names /none, which is no program"),
    ({"system.web.folder": "/no/such"}, "system.web.folder must be a folder that there is, not"),
    ({"system.web.ready": "health"}, 'system.web.ready must be a path that begins with "/", not'),
    ({"system.web.host": "http://shop"}, "system.web.host must be a host's name, such as shop"),
    ({"system.web.host": "shop\r\nX: y"}, "system.web.host must be a host's name, such as shop"),
    ({"system.web.protocol": "grpc"}, 'system.web.protocol must be "http", '),
    (
        {"system.web.protocol": "mysql"},
        "system.web is the first server, which users call over http, and speaks mysql; put the one"
        ' that they call first, or say protocol = "http" if it speaks that',
    ),
    ({"system.web.address": "localhost"}, "system.web.address must be an IPv4 address, such as"),
    (
        {"system.web.calls": ["cache"]},
        'system.web.calls must be a list out of db, or "found", not ["cache"]',
    ),
    (
        {"system.web.environment": {"A": "{db.prt}"}},
        "system.web.environment.A speaks of {db.prt}: of a server there are address, port,",
    ),
    ({"system.web.environment": {"A": 1}}, "system.web.environment must be a table of variables"),
    ({"system.web.within": "1"}, 'system.web.within must be a duration from "1s" to "1h"'),
    ({"system.db.server": "oracle"}, 'system.db.server must be "command", "address"'),
    ({"system.db.sql": "none.sql"}, "system.db.sql must be a file that there is, or a list"),
    ({"system.db.user": "a b"}, "system.db.user must be a name of letters, digits and _"),
    ({"system.db.count": 2}, "system.db.count must be 1: nothing keeps the data of 2 servers"),
    (
        {"system.Cache": {"server": "redis"}},
        "system.Cache has a name that is not up to 12 lower-case letters and digits",
    ),
    ({"system.cache": {"server": "redis"}}, "system.cache is called by no server, and users"),
    ({"system.sessions": {}}, "system.sessions needs one of start (pages), har"),
    ({"system.sessions.har": __file__}, "system.sessions needs one of start (pages), har"),
    ({"system.sessions": {"har": "none.har"}}, "system.sessions.har must be a file that there is"),
    (
        {"system.sessions": {"har": __file__}},
        "is no HAR file: it is no JSON (line 1, column 1); save",
    ),
    ({"system.sessions": {"log": __file__}}, "is no access log that Tierlab reads"),
    ({"system.sessions.start": "shop"}, 'system.sessions.start must begin with "/" and have no'),
    ({"system.sessions.start": []}, "system.sessions.start must be paths: a text or a list"),
    ({"system.sessions.pages": "items"}, 'system.sessions.pages must begin with "/" or "*"'),
    ({"system.sessions.think": "load"}, "system.sessions.think goes with har or log; remove it"),
    ({"system.sessions.length": 0}, "system.sessions.length must be a whole number from 1 to"),
    ({"system.sessions.expect": {"/": 1}}, "system.sessions.expect must be a table of paths"),
    (
        {"system.sessions.expect": {"cart": "x"}},
        'system.sessions.expect.cart must begin with "/" or "*", as "/cart"',
    ),
    (
        {"system.sessions.expect": {"/cart?x=1": "x"}},
        'system.sessions.expect."/cart?x=1" is no page of start; of one that is followed, leave',
    ),
    (
        {"system.web": {"address": "127.0.0.1", "port": 80}},
        'system.environment must be "host": web runs already',
    ),
    (
        {
            "system.web": {"address": "127.0.0.1", "port": 80, "memory": "1GiB"},
            "system.environment": "host",
        },
        "system.web.memory is nothing that Tierlab can do to what it did not start; remove it",
    ),
    ({"system.workload": "owm"}, 'not "owm" (did you mean own?)'),
]


@pytest.mark.parametrize(("changes", "sentence"), CASES, ids=[next(iter(c)) for c, _ in CASES])
def test_each_mistake_is_a_sentence(changes: Change, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(changed(changes), "my.toml")
    assert sentence in str(raised.value)
    assert "Traceback" not in str(raised.value)


def test_all_mistakes_are_told_at_once() -> None:
    document = changed(
        {
            "system.web.port": 0,
            "system.web.folder": "/no/such",
            "system.db.user": "",
            "system.sessions.start": "x",
            "load.users": 0,
        }
    )
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(document, "my.toml")
    count, *lines = str(raised.value).splitlines()
    assert count == "my.toml: 5 mistakes:"
    assert [line.split()[0] for line in lines] == [
        "system.web.port",
        "system.web.folder",
        "system.db.user",
        "system.sessions.start",
        "load.users",
    ]


def test_a_program_that_servers_may_not_run_is_told(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("servers run as whoever starts them")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "serve"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(UserError, match="is closed to the user that servers run as"):
        Experiment.from_tables(changed({"system.web.command": str(program)}), "my.toml")


@pytest.mark.parametrize("command", ["A=1 sh run.sh", "exec sh run.sh", "A=1 exec sh run.sh"])
def test_what_stands_before_a_program_is_no_mistake(command: str) -> None:
    Experiment.from_tables(changed({"system.web.command": command}), "my.toml")


def test_what_another_path_leads_to_is_not_looked_for() -> None:
    Experiment.from_tables(changed({"system.web.command": "PATH=/mine serve"}), "my.toml")
    other = {"system.web.command": "serve", "system.web.environment.PATH": "{folder}/bin"}
    Experiment.from_tables(changed(other), "my.toml")


def of_a_folder(folder: Path, first_line: str, command: str) -> Experiment:
    """A server by what is in its folder, where there is a script."""
    script = folder / ".venv" / "bin" / "serve"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"{first_line}\n")
    script.chmod(0o755)
    web = {"system.web.command": command, "system.web.folder": str(folder)}
    return Experiment.from_tables(changed(web), "my.toml")


@pytest.mark.parametrize("named", [".venv/bin/serve", "{folder}/.venv/bin/serve --port {port}"])
def test_a_program_of_its_folder_is_looked_for_there(named: str, tmp_path: Path) -> None:
    of_a_folder(tmp_path, "#!/bin/sh", named)
    with pytest.raises(UserError, match=f"names {tmp_path}/.venv/bin/none, which is no program"):
        of_a_folder(tmp_path, "#!/bin/sh", named.replace("serve", "none"))
    with pytest.raises(UserError, match="whose first line names /no/such, which is no program"):
        of_a_folder(tmp_path, "#! /no/such -x", named)


def test_a_copied_script_of_a_program_that_servers_may_not_run_is_told(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("servers run as whoever starts them")
    shop, other = tmp_path / "shop", tmp_path / "other"
    for each in (shop, other):
        (each / ".venv" / "bin").mkdir(parents=True)
        each.chmod(0o700)
        (each / ".venv" / "bin" / "python").symlink_to("/bin/sh")
    first_line, command = f"#!{shop}/.venv/bin/python -E", ".venv/bin/serve shop:app"
    with pytest.raises(UserError, match="is closed to the user that servers run as") as raised:
        of_a_folder(shop, first_line, command)
    advised = ".venv/bin/python .venv/bin/serve"
    assert f'say "{advised}", which are the copies' in str(raised.value)
    of_a_folder(shop, first_line, f"{advised} shop:app")
    with pytest.raises(UserError, match="have its first line name one that every user may run"):
        of_a_folder(other, first_line, command)
    with pytest.raises(UserError, match=r'say "./.venv/bin/serve", which is its copy'):
        of_a_folder(shop, "#!/bin/sh", f"{shop}/.venv/bin/serve")
    (shop / ".venv" / "bin" / "far").symlink_to(other / ".venv" / "bin" / "serve")
    with pytest.raises(UserError, match=f"far, a link to {other}/.venv/bin/serve, but"):
        of_a_folder(shop, "#!/bin/sh", ".venv/bin/far")


def test_a_good_file_has_the_graph_that_it_speaks_of_and_runs_again() -> None:
    experiment = Experiment.from_tables(GOOD, "my.toml")
    (trial,) = experiment.trials()
    assert list(trial.system.tiers) == ["web", "db"]
    assert trial.system.callees("web") == ("db",)
    assert trial.system.protocols == {"web": ("http", 8000), "db": ("postgresql", 5432)}
    file = trial.as_file()
    (again,) = Experiment.from_tables(file, "my.toml").trials()
    assert again.as_file() == file


def test_who_is_called_is_said_spoken_of_or_all() -> None:
    cache = {"system.cache": {"server": "redis"}}
    said = changed(cache | {"system.web.calls": ["cache", "db"]})
    spoken = changed(cache | {"system.web.command": "sh run.sh {cache.port}"})
    silent = changed(cache | {"system.web.environment": {}})
    for document, callees in (
        (said, ("cache", "db")),
        (spoken, ("cache", "db")),
        (silent, ("db", "cache")),
    ):
        (trial,) = Experiment.from_tables(document, "my.toml").trials()
        assert trial.system.callees("web") == callees


RECORDED = json.dumps({"log": {"entries": [entry({"url": "http://h/"})]}})
LOGGED = line(datetime(2026, 1, 1, tzinfo=UTC), 1, "/")


def of_a_record(folder: Path, way: str, load: Change, **keys: Any) -> dict[str, Any]:
    file = folder / f"visit.{way}"
    file.write_text(RECORDED if way == "har" else LOGGED)
    return changed({"system.sessions": {way: str(file), **keys}, "load": {"users": 1, **load}})


@pytest.mark.parametrize("load", [{"think": "1s"}, {"think": "0s"}, {"cycle": "1s"}])
def test_a_think_time_that_a_recording_s_own_replace_is_refused(
    tmp_path: Path, load: Change
) -> None:
    (key,) = load
    said = f'load.{key} goes with system.sessions.think = "load", not with recorded think times'
    for keys in ({}, {"think": "recorded"}):
        with pytest.raises(UserError) as raised:
            Experiment.from_tables(of_a_record(tmp_path, "har", load, **keys), "my.toml")
        assert said in str(raised.value)
    Experiment.from_tables(of_a_record(tmp_path, "har", load, think="load"), "my.toml")
    factors = of_a_record(tmp_path, "har", {}) | {"factors": {f"load.{key}": ["1s", "2s"]}}
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(factors, "my.toml")
    assert said in str(raised.value)


@pytest.mark.parametrize("key", ["think", "cycle"])
def test_between_the_visits_of_a_log_users_think_as_the_load_says(tmp_path: Path, key: str) -> None:
    (trial,) = Experiment.from_tables(of_a_record(tmp_path, "log", {key: "1s"}), "my.toml").trials()
    assert getattr(trial.load, f"{key}_ns") == 1_000_000_000


def test_a_recording_whose_file_says_what_is_usual_has_its_own_think_times(tmp_path: Path) -> None:
    """As a run's own file does."""
    (trial,) = Experiment.from_tables(of_a_record(tmp_path, "har", {}), "my.toml").trials()
    (again,) = Experiment.from_tables(trial.as_file(), "my.toml").trials()
    assert trial.as_file()["system"]["sessions"]["think"] == "recorded"
    assert trial.system.application.own_think
    assert again.system.application.own_think


def test_a_pattern_that_no_page_of_a_record_matches_is_a_mistake_of_the_file(
    tmp_path: Path,
) -> None:
    for way in ("har", "log"):
        Experiment.from_tables(of_a_record(tmp_path, way, {}, expect={"/": "x"}), "my.toml")
        document = of_a_record(tmp_path, way, {}, expect={"/cart": "x"})
        with pytest.raises(UserError) as raised:
            Experiment.from_tables(document, "my.toml")
        assert f"system.sessions.{way} {tmp_path}/visit.{way}: has no page" in str(raised.value)


def test_keys_of_a_file_s_own_servers_can_be_crossed() -> None:
    document = GOOD | {"factors": {"system.web.count": [1, 2], "system.sessions.length": [3]}}
    trials = Experiment.from_tables(document, "my.toml").trials()
    assert [trial.system.tiers["web"].count for trial in trials] == [1, 2]


def test_paths_begin_where_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop.sql").write_text("SELECT 1;")
    document = changed({"system.web.folder": "shop", "system.db.sql": "shop.sql"})
    lines = [f"{name} = {as_toml(table)}" for name, table in document.items()]
    (tmp_path / "e.toml").write_text("\n".join(lines))
    (trial,) = load(tmp_path / "e.toml").trials()
    web, db = trial.system.tiers.values()
    assert web.settings.options.folder == str(tmp_path / "shop")
    assert trial.as_file()["system"]["db"]["sql"] == [str(tmp_path / "shop.sql")]
    assert db.software.kind == "postgresql"
