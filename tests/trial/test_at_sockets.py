"""Connections at UNIX sockets between real programs: who calls whom there, and what nobody sees."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.own.debian_site import free_port, started
from tierlab.analysis.checked_calls import checked_calls
from tierlab.deploy.layout import layout
from tierlab.environments.addresses import LOOPBACK
from tierlab.experiment import Experiment, TrialPlan
from tierlab.observe.unix_calls import UnixCalls, UnixCallWatcher, is_plumbing
from tierlab.tables.manifest import Manifest, ServerPart
from tierlab.topology import Call, heard
from tierlab.trial import at_sockets
from tierlab.trial.at_sockets import SocketWatch
from tierlab.trial.find_calls import completed

PROGRAM = Path(__file__).parents[1] / "own" / "at_socket.py"


@dataclass
class Pair:
    """A site at a port, and the one behind it at a UNIX socket."""

    web: int
    app: int
    port: int
    path: str

    def ask(self) -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=10).read()


@contextmanager
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="u-"))
        path, port = str(Path(folder, "app.sock")), free_port()
        app = stack.enter_context(started([sys.executable, str(PROGRAM), path], Path(path)))
        command = [sys.executable, str(PROGRAM), str(port), "127.0.0.1", path]
        web = stack.enter_context(started(command, port))
        yield Pair(web.pid, app.pid, port, path)


@pytest.fixture(scope="module")
def both() -> Iterator[Pair]:
    """Their connection is open: it is kept."""
    with pair() as found:
        found.ask()
        yield found


def looked(processes: Mapping[str, list[int]]) -> UnixCalls:
    calls = UnixCalls(lambda: processes)
    try:
        calls.look()
    finally:
        calls.close()
    return calls


def test_a_connection_is_its_caller_s_and_the_server_s_that_accepted_it(both: Pair) -> None:
    calls = looked({"web.1": [both.web], "app.1": [both.app]})
    (call,) = calls.found.values()
    assert (call.caller, call.callee, call.socket) == ("web.1", "app.1", both.path)
    assert (call.pids, call.connections) == ({both.app}, 1)


def test_who_accepts_is_named_though_it_is_no_server_of_the_trial(both: Pair) -> None:
    (call,) = looked({"web.1": [both.web]}).found.values()
    assert (call.callee, call.pids) == (None, {both.app})
    assert str(call.program).startswith("python")


def test_who_is_called_has_no_call_of_its_own(both: Pair) -> None:
    assert looked({"app.1": [both.app]}).found == {}


def test_what_a_server_s_processes_say_to_one_another_is_no_call(both: Pair) -> None:
    assert looked({"web.1": [both.web, both.app]}).found == {}


def test_a_connection_counts_once_however_often_it_is_looked_at(both: Pair) -> None:
    calls = UnixCalls(lambda: {"web.1": [both.web]})
    for _ in range(5):
        calls.look()
    calls.close()
    assert [each.connections for each in calls.found.values()] == [1]


def test_it_is_looked_again_and_again(both: Pair) -> None:
    """The connection is opened after the first look, and there at the last."""
    with pair() as later:
        watcher = UnixCallWatcher(lambda: {"web.1": [later.web]}, interval_s=0.01, share=0.5)
        watcher.start()
        time.sleep(0.1)
        later.ask()
        (call,) = watcher.stop()
        assert (watcher.not_seen, call.socket) == (None, later.path)
    assert both.path != call.socket
    assert not [each for each in threading.enumerate() if each.name == "unix calls"]


def test_that_the_kernel_cannot_tell_is_said(monkeypatch: pytest.MonkeyPatch, both: Pair) -> None:
    def refused(_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr("tierlab.observe.unix_calls.Table.sockets", refused)
    watcher = UnixCallWatcher(lambda: {"web.1": [both.web]}, interval_s=0.01, share=0.5)
    watcher.start()
    assert watcher.stop() == []
    assert watcher.not_seen == "the kernel lists no UNIX sockets (No such file or directory)"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/run/systemd/journal/stdout", True),
        ("/var/run/dbus/system_bus_socket", True),
        ("/run/php/php8.2-fpm.sock", False),
        ("@redis", False),
    ],
)
def test_the_system_s_own_services_are_left_out(path: str, *, said: bool) -> None:
    assert is_plumbing(path) is said


def plan(**servers: Any) -> TrialPlan:
    web = {"command": "/bin/sleep 1", "port": 8000}
    system = {"workload": "own", "sessions": {"start": "/"}, "web": web} | servers
    tables = {"experiment": {"name": "e"}, "system": system, "load": {"users": 1}}
    (trial,) = Experiment.from_tables(tables, "e.toml").trials()
    return trial


def watched(trial: TrialPlan, pids: Mapping[str, list[int]]) -> tuple[Manifest, SocketWatch]:
    """What a trial with these servers writes down, whose processes are others'."""
    domains = {
        name: SimpleNamespace(pids=lambda found=found: found, inside=lambda: None)
        for name, found in pids.items()
    }
    systems: Any = SimpleNamespace(
        places=list(layout(trial.system, LOOPBACK).values()), domain=domains.__getitem__
    )
    watch = SocketWatch(trial, systems)
    watch.start()
    watch.stop()
    manifest = Manifest.model_construct(not_measured={})
    watch.record(manifest)
    return manifest, watch


def test_what_a_server_says_to_an_undeclared_one_is_told_as_not_seen(both: Pair) -> None:
    manifest, watch = watched(plan(), {"web.1": [both.web]})
    ((name, reason),) = manifest.not_measured.items()
    assert name == f"calls of web.1 at {both.path}"
    start = f"web.1 also talks to {Path(sys.executable).resolve().name}"
    assert reason.startswith(start[: len("web.1 also talks to python")])
    assert reason.endswith(
        f' over {both.path}: not seen; give it a table of its own with socket = "{both.path}"'
    )
    (seen,) = watch.seen
    assert (seen.caller, seen.callee, seen.where) == ("web.1", None, both.path)


def test_a_declared_server_is_told_only_that_its_visits_are_not_seen(both: Pair) -> None:
    trial = plan(app={"command": "/bin/sleep 1", "socket": both.path}, web=WEB)
    manifest, watch = watched(trial, {"web.1": [both.web], "app.1": [both.app]})
    reason = f"it is called at the UNIX socket {both.path}, and system calls were not traced"
    assert manifest.not_measured == {"visits of app.1": reason}
    traced = Manifest.model_construct(not_measured={})
    watch.record(traced, traced=["app.1"])
    assert traced.not_measured == {}
    assert [(each.caller, each.callee) for each in watch.seen] == [("web.1", "app.1")]


WEB = {"command": "/bin/sleep 1", "port": 8000, "calls": ["app"]}


def test_a_declared_server_that_is_called_at_another_place_is_told_where(both: Pair) -> None:
    trial = plan(app={"command": "/bin/sleep 1", "port": 9000}, web=WEB)
    manifest, watch = watched(trial, {"web.1": [both.web], "app.1": [both.app]})
    assert manifest.not_measured == {
        f"calls of web.1 at {both.path}": f"web.1 also talks to app.1 over {both.path}: not seen;"
        f' say socket = "{both.path}" in the table of app'
    }
    servers = {
        name: ServerPart.model_construct(tier=name[:-2], address="127.0.0.1", port=1, socket=None)
        for name in ("web.1", "app.1")
    }
    found = checked_calls(
        Manifest.model_construct(
            servers=servers,
            calls=[Call("web.1", "app.1", "http")],
            seen=watch.seen,
            not_measured={},
        ),
        (),
    )
    assert [each.works for each in found.found] == [True, False]
    assert found.keys == {"app": {"socket": both.path}}


def test_a_trial_without_servers_of_a_user_s_own_is_not_looked_at(both: Pair) -> None:
    tables = {"experiment": {"name": "e"}, "system": {"workload": "static"}, "load": {"users": 1}}
    (trial,) = Experiment.from_tables(tables, "e.toml").trials()
    assert not at_sockets.has_own_servers(trial)
    manifest, _ = watched(trial, {"web.1": [both.web]})
    assert manifest.not_measured == {}


def test_calls_that_a_file_leaves_open_are_found_at_sockets_too(both: Pair) -> None:
    app = {"command": "/bin/sleep 1", "socket": both.path}
    db = {"socket": "/run/nowhere/mysqld.sock"}
    trial = plan(app=app, db=db, environment="host")
    pids = {"web.1": [both.web], "app.1": [both.app], "db.1": []}
    _, watch = watched(trial, pids)
    assert heard(watch.seen) == "tcp", "neither the socket's name nor python's tells it"
    after = completed(trial, watch.seen)
    assert after.system.callees("web") == ("app", "db"), "db is taken to be the first one's"
    assert after.found == {("", "web", "app")}
    assert after.system.protocols["db"] == ("mysql", 0)
