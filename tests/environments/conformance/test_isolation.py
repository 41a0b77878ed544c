"""What servers may do, and that no environment limits them but as it was asked."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.environments.conformance.entries import Entry, require
from tierlab.environments.capability import Capability
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment

pytestmark = pytest.mark.privileged

SYSTEM_V = Path("/proc/sysvipc/shm")
"""The segments of shared memory that the reader's namespace has."""


def test_servers_have_no_rights(environment: Environment, entry: Entry, domain: Domain) -> None:
    require(environment, entry, Capability.UNPRIVILEGED, None)
    assert domain.run(["id", "-u"], timeout=20).stdout.strip() != "0"
    status = domain.run(["grep", "-E", "Cap(Eff|Prm)|NoNewPrivs", "/proc/self/status"], timeout=20)
    values = dict(line.split() for line in status.stdout.splitlines())
    assert int(values["CapEff:"], 16) == int(values["CapPrm:"], 16) == 0
    assert values["NoNewPrivs:"] == "1"


def test_servers_listen_on_every_port_of_a_network_of_the_trials_own(
    environment: Environment, entry: Entry, domain: Domain
) -> None:
    """Bare processes could not on port 80, as they are not root's."""
    require(environment, entry, Capability.NETWORK, None)
    if entry.own_kernel:
        pytest.skip("its ports are its own kernel's")
    listen = 'import socket; socket.create_server(("127.0.0.1", 80))'
    done = domain.run(["/usr/bin/python3", "-c", listen], timeout=20)
    assert done.status == 0, done.stderr


def test_no_server_is_limited_in_its_processes(
    environment: Environment, entry: Entry, domain: Domain
) -> None:
    """podman's default would be 2048 or 4096, and a comparison with bare processes false."""
    require(environment, entry, Capability.ACCOUNTING, None)
    if not domain.cgroups():
        pytest.skip("no control group of this host's holds the domain")
    limits = [folder / "pids.max" for folder in domain.cgroups().values()]
    assert {limit.read_text() for limit in limits if limit.exists()} == {"max\n"}


def test_no_server_is_limited_in_its_shared_memory(entry: Entry, domain: Domain) -> None:
    if entry.own_kernel:
        pytest.skip("its memory is the domain's own")
    size = ["stat", "--file-system", "--format=%b %S", "/dev/shm"]
    inside = domain.run(size, timeout=20).stdout
    blocks, unit = map(int, inside.split())
    host = os.statvfs("/dev/shm")
    assert blocks * unit == host.f_blocks * host.f_frsize


def test_no_server_reads_anothers_files(
    environment: Environment, entry: Entry, domain: Domain
) -> None:
    """The root of a container is the host's, with the folders of all domains in it."""
    if not entry.isolates:
        pytest.skip("bare processes share their files")
    other = environment.create(DomainSpec("app.1"))
    other.start()
    secret = domain.write("secret", "known\n")
    assert domain.run(["cat", str(secret)], timeout=20).stdout == "known\n"
    tried = other.run(["cat", str(secret)], timeout=20)
    assert (tried.status, tried.stdout) == (1, "")
    assert "No such file" in tried.stderr


def test_what_system_v_gives_a_server_is_none_of_this_hosts(domain: Domain) -> None:
    """A segment outlives whoever made it, killed or not: PostgreSQL has one.

    It is told by its size: other tests' servers make some too.
    """
    size = str(random.randrange(1 << 16, 1 << 20))
    made = domain.run(["sh", "-c", f"ipcmk --shmem {size} && cat {SYSTEM_V}"], timeout=20)
    assert made.status == 0, made.stderr
    assert size in made.stdout.split()
    assert size not in SYSTEM_V.read_text().split()
