"""The versions in the manifest are those that the programs tell of themselves."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tierlab.machine.programs import Program
from tierlab.servers.haproxy import HAProxy
from tierlab.servers.httpd import Httpd
from tierlab.servers.kinds import KINDS
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.tomcat import Tomcat
from tierlab.trial.versions import programs, versions
from tierlab.workloads.rubbos.shape import APPLICATION_LIBRARIES

SERVERS = (Httpd, Tomcat, HAProxy, MariaDB)


def test_every_server_and_the_agent_tell_their_versions() -> None:
    if None in [program.path for program in programs(SERVERS).values()]:
        pytest.skip("the servers are not installed")
    told = versions(programs(SERVERS), APPLICATION_LIBRARIES)
    assert set(told) == {
        *("tierlab", "tierlab-agent"),
        *("httpd", "java", "tomcat", "haproxy", "mariadb"),
    }
    assert all(re.fullmatch(r"\d+(\.\d+)+", number) for number in told.values()), told


def test_every_kind_of_server_that_is_here_tells_its_version() -> None:
    here = {kind: each for kind, each in programs(KINDS.values()).items() if each.path is not None}
    assert {kind for kind, each in here.items() if each.number is None} == set()


@pytest.mark.parametrize(("kind", "package"), [("httpd", "apache2-bin"), ("haproxy", "haproxy")])
def test_the_version_is_the_packages_upstream_version(kind: str, package: str) -> None:
    if shutil.which("dpkg-query") is None or programs(SERVERS)[kind].package_version is None:
        pytest.skip("not a Debian package here")
    said = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Version}", package],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.startswith(f"{versions(programs(SERVERS), APPLICATION_LIBRARIES)[kind]}-")


def test_a_program_that_is_missing_has_no_version() -> None:
    missing = {"haproxy": Program("haproxy", "haproxy", None, None, None)}
    assert "haproxy" not in versions(missing, None)
