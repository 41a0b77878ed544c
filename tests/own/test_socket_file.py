"""What a file says of servers at UNIX sockets, and what servers and agents are told of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tierlab.deploy.layout import layout, topology
from tierlab.environments.addresses import LOOPBACK
from tierlab.environments.unix.address import LONGEST
from tierlab.errors import UserError
from tierlab.experiment import Experiment, TrialPlan
from tierlab.observe import plans
from tierlab.servers.command import Command
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.placeholders import filled
from tierlab.tables.manifest import Manifest, ServerPart
from tierlab.topology import usual_at

WEB = {"command": "/bin/sleep {app.socket}", "port": 8000}
APP = {
    "command": "/bin/sleep {socket}",
    "socket": "run/app.sock",
    "protocol": "fcgi",
    "environment": {"DB": "{db.socket}"},
}
WORK = Path("/srv")


def trial(**tables: Any) -> TrialPlan:
    system = {"workload": "own", "sessions": {"start": "/"}, "web": WEB, "app": APP}
    document = {
        "experiment": {"name": "own"},
        "system": system | {"db": {"server": "mariadb"}} | tables,
        "load": {"users": 5},
    }
    (plan,) = Experiment.from_tables(document, "my.toml").trials()
    return plan


def test_a_server_at_a_socket_is_called_there_and_nowhere_else() -> None:
    shape = trial().system
    places = layout(shape, LOOPBACK, work=WORK)
    app, db = places["app.1"].endpoint, places["db.1"].endpoint
    assert (app.port, app.socket, app.protocol) == (0, "/srv/app.1/home/run/app.sock", "fcgi")
    assert app.listens
    assert str(app) == app.socket
    assert (db.port, db.socket) == (3306, "/srv/db.1/data/mysqld.sock")
    graph = topology(shape, places)
    assert graph.entries == ["web.1"]
    assert [(each.caller, each.callee, each.protocol) for each in graph.calls] == [
        ("web.1", "app.1", "fcgi"),
        ("app.1", "db.1", "mysql"),
    ]


def test_the_capture_is_told_of_ports_and_the_tracer_of_sockets() -> None:
    places = list(layout(trial().system, LOOPBACK, work=WORK).values())
    captured = plans.capture(places, "lo")["servers"]
    assert [each["name"] for each in captured] == ["web.1", "db.1"]
    assert plans.at_sockets(places) == [
        {"name": "app.1", "protocol": "fastcgi", "socket": "/srv/app.1/home/run/app.sock"},
        {"name": "db.1", "protocol": "mysql", "socket": "/srv/db.1/data/mysqld.sock"},
    ]


def test_the_socket_of_a_database_is_a_way_to_it_only_if_somebody_is_told_of_it() -> None:
    told_of_port = APP | {"environment": {"DB": "{db.address} {db.port}"}}
    places = layout(trial(app=told_of_port).system, LOOPBACK, work=WORK)
    assert places["db.1"].endpoint.socket is None
    assert [each["name"] for each in plans.at_sockets(list(places.values()))] == ["app.1"]


def test_a_path_begins_in_the_copy_of_a_server_s_folder_if_it_has_one(tmp_path: Path) -> None:
    app = APP | {"folder": str(tmp_path), "count": 2}
    places = layout(trial(app=app).system, LOOPBACK, work=WORK)
    found = [places[f"app.{number}"].endpoint.socket for number in (1, 2)]
    assert found == [f"/srv/app.{number}/files/run/app.sock" for number in (1, 2)]


def test_a_server_that_runs_already_is_known_by_its_socket() -> None:
    db = {"socket": "/run/mysqld/mysqld.sock"}
    shape = trial(db=db, environment="host").system
    assert shape.tiers["db"].server == "address"
    endpoint = layout(shape, LOOPBACK)["db.1"].endpoint
    assert (endpoint.port, endpoint.socket) == (0, "/run/mysqld/mysqld.sock")
    assert endpoint.protocol == "mysql", "by the name of the socket"
    both = {"address": "127.0.0.1", "port": 3306, "socket": "/run/mysqld/mysqld.sock"}
    shape = trial(db=both, environment="host").system
    endpoint = layout(shape, LOOPBACK)["db.1"].endpoint
    assert (endpoint.port, endpoint.socket) == (3306, "/run/mysqld/mysqld.sock")
    again = Experiment.from_tables(trial(db=both, environment="host").as_file(), "my.toml")
    assert (
        again.trials()[0].system.tiers["db"].settings.options == shape.tiers["db"].settings.options
    )


def test_others_are_told_of_the_path_and_of_its_folder() -> None:
    tiers = {
        "db": Endpoint("127.0.0.1", 5432, "postgresql", "/x/data/.s.PGSQL.5432"),
        "app": Endpoint("127.0.0.2", 0, "fcgi", "/x/app.sock"),
    }
    text = "{db.socket} {db.socket_folder} {app} {db} {web.socket}"
    told = filled(text, {}, tiers, lambda _: Credentials("u", "p", "d"))
    assert told == "/x/data/.s.PGSQL.5432 /x/data /x/app.sock 127.0.0.1:5432 {web.socket}"


def test_a_command_is_told_of_its_own_and_has_its_folder(tmp_path: Path) -> None:
    made: list[str] = []
    (options,) = (trial().system.tiers["app"].settings,)
    site: Any = SimpleNamespace(
        folder=tmp_path,
        subject="app.1",
        endpoint=Endpoint("127.0.0.1", 0, "fcgi", str(tmp_path / "home/run/app.sock")),
        tiers={},
        domain=SimpleNamespace(make_folder=made.append),
    )
    content: Any = SimpleNamespace(login=lambda _: Credentials("u", "p", "d"))
    server = Command(site, options, content)
    assert server.command()[-1] == str(tmp_path / "home/run/app.sock")
    assert "PORT" not in server.variables()
    server.prepare()
    assert "home/run" in made


@pytest.mark.parametrize(
    ("socket", "program", "protocol"),
    [
        ("/run/php/php8.2-fpm.sock", "", "fcgi"),
        ("/run/app.sock", "php-fpm8.2", "fcgi"),
        ("/run/mysqld/mysqld.sock", "mariadbd", "mysql"),
        ("/var/run/postgresql/.s.PGSQL.5432", "", "postgresql"),
        ("@redis", "", "redis"),
        ("/run/uwsgi/app/socket", "uwsgi-core", "tcp"),
        ("/run/gunicorn.sock", "", "http"),
        ("/run/other.sock", "other", None),
    ],
)
def test_the_well_known_are_told_by_their_names(
    socket: str, program: str, protocol: str | None
) -> None:
    assert usual_at(socket, program) == protocol


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        (
            {"web": {"command": "/bin/sleep 1", "socket": "web.sock", "calls": ["app"]}},
            "system.web.port is missing: users call the first server.",
        ),
        (
            {"app": APP | {"socket": "unix:/run/app.sock"}},
            "system.app.socket must be the path of a UNIX socket, such as app.sock or"
            ' /run/app.sock, or "@" and an abstract name, not "unix:/run/app.sock".',
        ),
        (
            {"app": APP | {"socket": "../app.sock"}},
            "system.app.socket must name a file in a folder, without ...",
        ),
        (
            {"app": APP | {"socket": "/run/app.sock", "count": 2}},
            "system.app.socket is one place for 2 servers; say a path in each one's folder, such as"
            ' "app.sock".',
        ),
        (
            {"web": WEB | {"command": "/bin/sleep {app.port} {app.socket}"}},
            "system.web.command speaks of {app.port}, and app listens at a socket alone; say"
            " {app.socket}.",
        ),
        (
            {"app": {"command": "/bin/sleep {db.socket}", "port": 9000}},
            "system.web.command speaks of {app.socket}, and app has no socket; say {app.address}"
            ' and {app.port}, or give it one (socket = "app.sock").',
        ),
        (
            {"app": APP | {"command": "/bin/sleep {db.scoket}"}},
            "system.app.command speaks of {db.scoket}: of a server there are address, port, socket"
            " and socket_folder, and of a database user, password and database.",
        ),
        (
            {"db": {"socket": "mysqld.sock"}, "environment": "host"},
            "system.db.socket is where a server runs already: say its whole path, such as"
            ' "/run/mysqld.sock".',
        ),
        (
            {"db": {"socket": "/run/mysqld.sock"}},
            'system.environment must be "host": db runs already, outside of any network of a'
            " trial's own.",
        ),
        (
            {"environment": "qemu"},
            'system.environment must be "native" or "host": app is called at a UNIX socket, which'
            ' in "qemu" no other server sees; or have it called at a port.',
        ),
    ],
)
def test_what_cannot_work_is_refused(tables: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        trial(**tables)
    assert sentence in str(raised.value)


def test_a_path_that_the_kernel_does_not_take_is_refused_before_any_start() -> None:
    longest = LONGEST - len("/srv/app.1/home/")
    fits = trial(app=APP | {"socket": "d" * longest}).system
    assert len(str(layout(fits, LOOPBACK, work=WORK)["app.1"].endpoint.socket)) == LONGEST
    with pytest.raises(UserError, match=r"^app\.1: the path of its socket, .* has 108 bytes, and"):
        layout(trial(app=APP | {"socket": "d" * (longest + 1)}).system, LOOPBACK, work=WORK)


@pytest.mark.parametrize("kind", ["network", "loss"])
def test_no_packets_come_to_a_server_at_a_socket_alone(kind: str) -> None:
    """Its callers would not have noticed: it was an injected trouble without effect."""
    keys: dict[str, Any] = {"system": {"workload": "own", "sessions": {"start": "/"}, "web": WEB}}
    keys["system"] |= {"app": APP, "db": {"server": "mariadb"}}
    tables = {"experiment": {"name": "own"}, "load": {"users": 5}} | keys
    disturb = {"class": kind, "at": "5s", "duration": "1s"}
    for on in ("web.1", "db.1"):
        Experiment.from_tables(tables | {"disturb": [disturb | {"on": on}]}, "my.toml")
    with pytest.raises(
        UserError, match=f'for class {kind} must be "web.1" or "db.1" in this system'
    ):
        Experiment.from_tables(tables | {"disturb": [disturb | {"on": "app.1"}]}, "my.toml")


def test_the_manifest_knows_a_server_at_a_socket_for_no_worker() -> None:
    part: dict[str, Any] = {"server": "command", "address": "127.0.0.1"}
    servers = {
        "web.1": ServerPart(tier="web", port=80, protocol="http", **part),
        "app.1": ServerPart(tier="app", port=0, socket="/run/app.sock", protocol="fcgi", **part),
        "jobs.1": ServerPart(tier="jobs", port=0, protocol="none", **part),
    }
    manifest = Manifest.model_construct(servers=servers, calls=[])
    assert manifest.topology.workers == {"jobs.1"}
    assert servers["app.1"].where == "/run/app.sock"
    assert servers["web.1"].where == "127.0.0.1:80"
