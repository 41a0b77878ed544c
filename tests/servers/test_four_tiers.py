"""Real servers: the four tiers up, a page through all of them, down, and nothing left."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from logins import check_nobody_logs_in_without_the_trials_own_password
from talk import STEPS, fetch, nothing, query, running

from tests.pace import wait_until
from tierlab.deploy.system import System
from tierlab.environments.native.native import Native
from tierlab.servers.endpoint import Endpoint

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

Build = Callable[..., System]
ESTABLISHED = "01"
"""As /proc/net/tcp has it."""


@pytest.mark.parametrize(("mpm", "connector"), [("event", "ajp"), ("prefork", "http")])
def test_a_page_goes_through_all_tiers_and_every_log_has_it(
    build: Build, native: Native, tmp_path: Path, mpm: str, connector: str
) -> None:
    system = build(web={"mpm": mpm, "connector": connector, "soft": {"threads": 32}})
    steps: list[str] = []
    system.start(steps.append)
    assert tuple(steps) == STEPS
    if connector == "ajp":
        check_subjects_tell_samplers_and_tracers_what_they_need(system, native)
        check_nobody_logs_in_without_the_trials_own_password(system, native)
    request_id = "00000000deadbeef"
    before = statements(native, system)
    status, text = fetch(native, "/rubbos/servlet/BrowseCategories", request_id)
    assert status == 200
    assert "</html>" in text
    assert statements(native, system) > before + 1
    status, text = fetch(native, "/rubbos/browse.html", "00000000cafecafe")
    assert (status, "BrowseCategories" in text) == (200, True)
    for number in range(200):
        assert fetch(native, "/rubbos/browse.html", f"{number:016x}")[0] == 200
    system.stop()
    check_every_buffered_line_is_there(tmp_path / "logs/web.1/logs/access.log", 200)
    (line,) = lines(tmp_path / "logs/web.1/logs/access.log", request_id)
    began_us, took_us, _, final, size, *_ = line.split()
    assert abs(int(began_us) / 1e6 - time.time()) < 120
    assert 0 < int(took_us) < 60_000_000
    assert (final, int(size) > 100) == ("200", True)
    assert len(lines(tmp_path / "logs/app.1/logs/access.log", request_id)) == 1
    assert not lines(tmp_path / "logs/app.1/logs/access.log", "00000000cafecafe")
    assert (tmp_path / "logs/web.1/httpd.conf").exists()
    assert (tmp_path / "logs/db.1/my.cnf").exists()
    assert "safepoint" in (tmp_path / "logs/app.1/logs/gc.log").read_text()


def check_every_buffered_line_is_there(log: Path, requests: int) -> None:
    logged = sorted(line.split()[2] for line in log.read_text().splitlines())
    numbered = {f"{number:016x}" for number in range(requests)}
    assert [request for request in logged if request in numbered] == sorted(numbered)


def statements(native: Native, system: System) -> int:
    ((_, count),) = query(
        native, system, Endpoint("127.0.4.1", 3306, "mysql"), "SHOW GLOBAL STATUS LIKE 'Questions'"
    )
    return int(str(count))


def lines(path: Path, having: str) -> list[str]:
    return [line for line in path.read_text().splitlines() if having in line]


def check_subjects_tell_samplers_and_tracers_what_they_need(system: System, native: Native) -> None:
    """Their processes, groups and addresses; each is called from its callers' own address."""
    subjects = {subject.name: subject for subject in system.subjects()}
    assert list(subjects) == ["web.1", "app.1", "lb.1", "db.1"]
    assert {name: str(subject.endpoint) for name, subject in subjects.items()} == {
        "web.1": "127.0.1.1:8080",
        "app.1": "127.0.2.1:8009",
        "lb.1": "127.0.3.1:3306",
        "db.1": "127.0.4.1:3306",
    }
    assert [subject.name for subject in subjects.values() if subject.place.pass_through] == ["lb.1"]
    for subject in subjects.values():
        assert subject.pids
        assert all(runs_as_nobody(pid) for pid in subject.pids)
        for folder in subject.cgroups.values():
            members = {int(pid) for pid in (folder / "cgroup.procs").read_text().split()}
            assert set(subject.pids) <= members
    check_connections_come_from_its_callers_own_address(system, native)


def runs_as_nobody(pid: int) -> bool:
    return Path(f"/proc/{pid}").stat().st_uid == 65534


def test_soft_resources_are_in_force(build: Build, native: Native, tmp_path: Path) -> None:
    """Asked of the kernel and of the servers themselves, not read from their configuration."""
    system = build(
        web={"soft": {"threads": 24, "threads_per_process": 8, "backlog": 61, "pool": 3}},
        app={"soft": {"threads": 7, "accept_count": 62, "pool": 9}, "heap": "96MiB"},
        lb={"soft": {"backlog": 63}},
        db={"soft": {"max_connections": 77, "backlog": 64, "buffer_pool": "48MiB"}},
    )
    system.start(nothing)
    listing = native.spawn(["ss", "-ltnH"], log=tmp_path / "ss.log")
    assert listing.stdout is not None
    sockets = [line.split() for line in listing.stdout.read().decode().splitlines()]
    listing.stop(5)
    assert {local: int(backlog) for _, _, backlog, local, _ in sockets} == {
        "127.0.1.1:8080": 61,
        "127.0.2.1:8009": 62,
        "127.0.3.1:3306": 63,
        "127.0.4.1:3306": 64,
    }

    def workers() -> int:
        return sum(threads(pid) > 8 for pid in running(system, "web.1").pids)

    # The first one answers, and the others are on their way.
    wait_until(lambda: workers() >= 24 / 8, "the workers' start", 20)
    assert workers() == 24 / 8
    database = Endpoint("127.0.4.1", 3306, "mysql")
    ((connections, pool),) = query(
        native, system, database, "SELECT @@max_connections, @@innodb_buffer_pool_size"
    )
    assert (connections, pool) == (77, 48 << 20)
    # The pool opens its connections one after the other.
    wait_until(lambda: pooled(native, system, database) == 9, "the pool", 20, nap=0.1)
    (jvm,) = running(system, "app.1").pids
    assert f"-Xmx{96 << 20}" in Path(f"/proc/{jvm}/cmdline").read_text().split("\0")
    assert "/app.1/app.jsa\n" in Path(f"/proc/{jvm}/maps").read_text(), "classes from their archive"


def threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def pooled(native: Native, system: System, database: Endpoint) -> int:
    ((count,),) = query(
        native,
        system,
        database,
        "SELECT COUNT(*) FROM information_schema.processlist WHERE host LIKE '127.0.3.1:%'",
    )
    return int(str(count))


def check_connections_come_from_its_callers_own_address(system: System, native: Native) -> None:
    fetch(native, "/rubbos/servlet/BrowseCategories", "00000000feedfeed")
    table = Path(f"/proc/{system.subjects()[0].pids[0]}/net/tcp").read_text().splitlines()[1:]
    ends = [line.split()[1:4] for line in table]
    both = [(local, remote) for local, remote, state in ends if state == ESTABLISHED]
    callers = {
        (address(server), address(client).rpartition(":")[0])
        for local, remote in both
        for client, server in ((local, remote), (remote, local))
    }
    assert ("127.0.2.1:8009", "127.0.1.1") in callers
    assert ("127.0.3.1:3306", "127.0.2.1") in callers
    assert ("127.0.4.1:3306", "127.0.3.1") in callers
    assert ("127.0.4.1:3306", "127.0.0.1") not in callers


def address(text: str) -> str:
    """Decode an address of /proc/net/tcp: the IP as a little-endian number."""
    ip, port = text.split(":")
    return ".".join(str(byte) for byte in bytes.fromhex(ip)[::-1]) + f":{int(port, 16)}"


def test_galera_takes_writes_on_any_node_and_the_replicas_agree(
    build: Build, native: Native
) -> None:
    system = build(db={"count": 2, "soft": {"buffer_pool": "32MiB"}})
    system.start(nothing)
    nodes = [subject.endpoint for subject in system.subjects() if subject.name.startswith("db.")]
    assert len(nodes) == 2
    for number, node in enumerate(nodes):
        query(
            native,
            system,
            node,
            "INSERT INTO users (firstname, lastname, nickname, password, email, rating, access,"
            f" creation_date) VALUES ('a', 'b', 'galera{number}', 'p', 'e', 0, 0, NOW())",
        )
    # What a node has certified is there on the others a moment later.
    counted = "SELECT COUNT(*) FROM users WHERE nickname LIKE 'galera%'"
    wait_until(
        lambda: [query(native, system, node, counted) for node in nodes] == [[(2,)]] * 2,
        "both rows on both nodes",
    )
    sums = [
        query(native, system, node, "CHECKSUM TABLE users, stories, comments") for node in nodes
    ]
    assert sums[0] == sums[1]
    assert fetch(native, "/rubbos/servlet/BrowseCategories", "0" * 16)[0] == 200


def test_two_systems_have_different_passwords(build: Build) -> None:
    one, other = build().credentials, build().credentials
    assert (one.user, one.database) == (other.user, other.database)
    assert one.password != other.password
    assert len(one.password) >= 24
