"""Rendered configuration, judged by the servers' own programs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from tierlab import experiment
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.files import copy_tree
from tierlab.servers.application import Application, Pages
from tierlab.servers.base import Site
from tierlab.servers.content import Content
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.haproxy import HAProxy
from tierlab.servers.httpd import Httpd
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.programs import find_program
from tierlab.servers.tomcat import Tomcat

LOGIN = Credentials("rubbos", "rubbos", "rubbos")
DATABASES = (Endpoint("127.0.4.1", 3306, "mysql"), Endpoint("127.0.4.2", 3306, "mysql"))


class Ground:
    """A domain's folder, on this host's own kernel, is all that rendering needs of it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.spec = DomainSpec(name)
        self.folder = folder

    def inside(self) -> None:
        return None

    def put(self, source: Path, name: str) -> Path:
        copy_tree(source, self.folder / name)
        return self.folder / name


def site(
    folder: Path,
    name: str,
    endpoint: Endpoint,
    *upstreams: Endpoint,
    tier: Sequence[Endpoint] = (),
) -> Site:
    domain = cast(Domain, Ground(name, folder))
    return Site(cast(Environment, None), domain, endpoint, upstreams, tuple(tier) or (endpoint,))


def system(**tiers: Any) -> experiment.System:
    return experiment.System.of({"workload": "rubbos", **tiers})


def content(folder: Path) -> Content:
    application = Application(
        documents=folder,
        ready_path="/rubbos/servlet/Ready",
        name="rubbos",
        jar=folder / "a.jar",
        libraries=folder,
        dynamic_prefix="/rubbos/servlet/",
    )
    return Content(application, None, LOGIN)


def httpd(folder: Path, protocol: str = "ajp", **web: Any) -> Httpd:
    tier = system(web=web).web
    place = site(
        folder, "web.1", Endpoint("127.0.1.1", 8080, "http"), Endpoint("127.0.2.1", 8009, protocol)
    )
    return Httpd(place, tier.settings, content(folder))


def directives(text: str) -> dict[str, str]:
    return dict(line.strip().split(" ", 1) for line in text.splitlines() if " " in line.strip())


@pytest.mark.parametrize("mpm", ["event", "prefork"])
@pytest.mark.parametrize("protocol", ["ajp", "http"])
def test_httpd_accepts_its_configuration(tmp_path: Path, mpm: str, protocol: str) -> None:
    for name in ("htdocs", "logs", "run"):
        (tmp_path / name).mkdir()
    (tmp_path / "httpd.conf").write_text(httpd(tmp_path, protocol, mpm=mpm).render()["httpd.conf"])
    command = [find_program("apache2"), "-t", "-f", str(tmp_path / "httpd.conf")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.stderr.strip() == "Syntax OK"


def test_httpd_alone_accepts_its_configuration_and_hands_nothing_on(tmp_path: Path) -> None:
    for name in ("htdocs", "logs", "run"):
        (tmp_path / name).mkdir()
    tier = system(web={"mpm": "prefork"}).web
    alone = Httpd(
        site(tmp_path, "web.1", Endpoint("127.0.1.1", 8080, "http")),
        tier.settings,
        Content(Pages(tmp_path, "/page.html"), None, LOGIN),
    )
    text = alone.render()["httpd.conf"]
    (tmp_path / "httpd.conf").write_text(text)
    command = [find_program("apache2"), "-t", "-f", str(tmp_path / "httpd.conf")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.stderr.strip() == "Syntax OK"
    assert "Proxy" not in text


def test_httpds_threads_are_whole_processes_all_there_from_the_start(tmp_path: Path) -> None:
    soft = {"threads": 100, "backlog": 77, "pool": 9, "keep_alive_timeout": "3s"}
    found = directives(httpd(tmp_path, soft=soft).render()["httpd.conf"])
    assert found["MaxRequestWorkers"] == "100"
    assert found["ThreadsPerChild"] == found["ThreadLimit"] == "50"
    assert found["ServerLimit"] == found["StartServers"] == "2"
    assert found["ListenBacklog"] == "77"
    assert found["KeepAliveTimeout"] == "3"
    assert "max=9" in found["ProxyPass"]


def test_prefork_has_a_process_for_each_request(tmp_path: Path) -> None:
    found = directives(httpd(tmp_path, mpm="prefork", soft={"threads": 30}).render()["httpd.conf"])
    assert found["ServerLimit"] == found["StartServers"] == found["MaxRequestWorkers"] == "30"
    assert "ThreadsPerChild" not in found


def test_haproxy_accepts_its_configuration(tmp_path: Path) -> None:
    tier = system(lb={"soft": {"max_connections": 500, "backlog": 33}}).lb
    place = site(tmp_path, "lb.1", Endpoint("127.0.3.1", 3306, "mysql"), *DATABASES)
    text = HAProxy(place, tier.settings, content(tmp_path)).render()["haproxy.cfg"]
    (tmp_path / "haproxy.cfg").write_text(text)
    command = [find_program("haproxy"), "-c", "-f", str(tmp_path / "haproxy.cfg")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    lines = [line.strip() for line in text.splitlines()]
    assert lines.count("maxconn 500") == 2
    assert "bind 127.0.3.1:3306 backlog 33" in lines
    assert [line for line in lines if line.startswith("server ")] == [
        "server 1 127.0.4.1:3306",
        "server 2 127.0.4.2:3306",
    ]
    assert "check" not in text


def mariadb(folder: Path, number: int = 1, of: int = 1, **soft: Any) -> MariaDB:
    tier = system(db={"soft": soft}).db
    place = site(folder, f"db.{number}", DATABASES[number - 1], tier=DATABASES[:of])
    return MariaDB(place, tier.settings, content(folder))


def test_mariadb_reads_its_options_as_they_are_meant(tmp_path: Path) -> None:
    soft = {
        "max_connections": 123,
        "backlog": 45,
        "buffer_pool": "64MiB",
    }
    (tmp_path / "data").mkdir()
    (tmp_path / "my.cnf").write_text(mariadb(tmp_path, **soft).render()["my.cnf"])
    command = [
        find_program("mariadbd"),
        f"--defaults-file={tmp_path}/my.cnf",
        "--user=nobody",
        "--verbose",
        "--help",
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    values = dict(line.split(None, 1) for line in said.splitlines() if len(line.split()) == 2)
    expected = {
        "max-connections": "123",
        "back-log": "45",
        "innodb-buffer-pool-size": str(64 << 20),
        "bind-address": "127.0.4.1",
        "port": "3306",
        "skip-name-resolve": "TRUE",
        "performance-schema": "FALSE",
        "ssl": "FALSE",
    }
    assert {name: values[name] for name in expected} == expected


def test_a_database_short_of_memory_shares_no_page_of_its_program(tmp_path: Path) -> None:
    """Pages that another MariaDB on the host kept in memory could not be squeezed out of it."""
    program = Path(find_program("mariadbd")).resolve()
    own = mariadb(tmp_path).own_program(program)
    assert own.stat().st_ino != program.stat().st_ino
    said = subprocess.run([own, "--version"], capture_output=True, text=True, check=True).stdout
    assert "MariaDB" in said


def test_a_galera_node_uses_no_address_but_its_own(tmp_path: Path) -> None:
    text = mariadb(tmp_path, of=2).render()["my.cnf"]
    options = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    assert options["wsrep_cluster_address"] == "gcomm://127.0.4.1,127.0.4.2"
    assert options["wsrep_node_address"] == "127.0.4.1"
    assert options["wsrep_sst_receive_address"] == "127.0.4.1:4444"
    provider = options["wsrep_provider_options"]
    assert "gmcast.listen_addr=tcp://127.0.4.1:4567" in provider
    assert "ist.recv_addr=127.0.4.1:4568" in provider


def test_only_the_first_node_founds_the_cluster(tmp_path: Path) -> None:
    first = mariadb(tmp_path, 1, of=2).command()
    second = mariadb(tmp_path, 2, of=2).command()
    assert "--wsrep-new-cluster" in first
    assert "--wsrep-new-cluster" not in second


def test_tomcats_properties_carry_its_soft_resources(tmp_path: Path) -> None:
    soft = {
        "threads": 10,
        "accept_count": 20,
        "max_connections": 30,
        "pool": 40,
        "pool_timeout": "1500ms",
    }
    tier = system(app={"soft": soft, "heap": "128MiB"}).app
    place = site(
        tmp_path,
        "app.1",
        Endpoint("127.0.2.1", 8009, "ajp"),
        Endpoint("127.0.3.1", 3306, "mysql"),
    )
    server = Tomcat(place, tier.settings, content(tmp_path))
    (text,) = server.render().values()
    found = dict(line.split("=", 1) for line in text.splitlines())
    expected = {
        "threads.max": "10",
        "accept.count": "20",
        "connections.max": "30",
        "pool.size": "40",
        "pool.timeout.ms": "1500",
        "ajp.address": "127.0.2.1",
        "ajp.port": "8009",
    }
    assert {key: found[key] for key in expected} == expected
    assert "http.port" not in found
    assert found["jdbc.url"].startswith("jdbc:mariadb://127.0.3.1:3306/rubbos?")
    assert f"-Xmx{128 << 20}" in server.command()
