"""What is particular about Docker's containers: their daemon is the trial's, and goes with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.conftest import Traces
from tests.environments.borrowed import borrowed, lasting
from tests.environments.changes import changes
from tierlab.environments.cgroups.cgroup import trial_group
from tierlab.environments.containers import docker_daemon
from tierlab.environments.containers.docker import Docker
from tierlab.environments.containers.docker_domain import DockerDomain
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.host import HostEnvironment
from tierlab.errors import UserError

pytestmark = [
    pytest.mark.environments,
    pytest.mark.privileged,
    pytest.mark.usefixtures("docker_here"),
]

PLACES = ("/etc/docker", "/run/docker", "/run/containerd", "/run/runc", "/var/lib/docker")
"""Where a machine has its Docker, or one of a trial's left something by default."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostEnvironment]:
    """One serves the module's tests: its daemon takes long to start and to end."""
    with lasting(Docker, tmp_path_factory.mktemp("ledger")) as made:
        yield made


@pytest.fixture
def docker(kept: Docker) -> Iterator[Docker]:
    with borrowed(kept):
        yield kept


def started(docker: Docker) -> DockerDomain:
    domain = docker.create(DomainSpec("db.1"))
    domain.start()
    return domain


def test_the_host_name_is_the_servers(docker: Docker) -> None:
    assert started(docker).run(["hostname"], timeout=20).stdout == "db.1\n"


def test_the_daemon_and_what_it_starts_are_in_the_trials_groups_and_network(docker: Docker) -> None:
    domain = started(docker)
    daemon = psutil.Process(docker._daemon.process.pid)
    assert domain._init is not None
    shim = psutil.Process(domain._init.pid).parent()
    assert shim is not None
    assert shim.name().startswith("containerd-shim")
    above = f"/{trial_group(docker.trial)}/"
    namespace = docker._ground.namespace
    assert namespace is not None
    for process in (daemon, *daemon.children(), shim):
        assert above in Path(f"/proc/{process.pid}/cgroup").read_text()
        assert Path(f"/proc/{process.pid}/ns/net").stat().st_ino == namespace.path.stat().st_ino
        assert process.net_connections("inet") == []


def test_what_docker_refuses_is_told_in_its_own_words(docker: Docker) -> None:
    domain = docker.create(DomainSpec("no name"))
    with pytest.raises(
        UserError, match=r"^no name: 'docker create' failed: .*Invalid container name"
    ):
        domain.start()


def test_a_destroyed_container_leaves_no_group_in_the_ledger(docker: Docker) -> None:
    """runc makes groups in trees too that Tierlab has no use for."""
    before = groups_listed(docker)
    domain = started(docker)
    assert groups_listed(docker) - before
    domain.destroy()
    assert groups_listed(docker) == before


def test_the_client_is_the_one_that_came_with_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sbin/dockerd", "bin/docker"):
        program = tmp_path / name
        program.parent.mkdir()
        program.touch(mode=0o755)
    path = f"/usr/local/bin:{tmp_path}/sbin:{tmp_path}/bin"
    monkeypatch.setattr("tierlab.environments.containers.probe.SYSTEM_PATH", path)
    assert docker_daemon._client() == f"{tmp_path}/bin/docker"


@pytest.mark.alone
def test_the_machines_own_docker_is_not_touched(trial: str, traces: Traces) -> None:  # noqa: ARG001
    before = {place: changes(place) for place in PLACES}
    existed = {place: Path(place).exists() for place in PLACES}
    docker = Docker(Ledger(trial))
    started(docker)
    during = {place: changes(place) for place in PLACES}
    assert Path(f"/etc/docker/tierlab-{trial}").exists()
    docker.destroy()
    assert not Path(f"/etc/docker/tierlab-{trial}").exists()
    assert {place: Path(place).exists() for place in PLACES} == existed
    assert during == before
    assert {place: changes(place) for place in PLACES} == before


def groups_listed(docker: Docker) -> set[str]:
    entries = docker._ledger.account().entries
    return {str(entry.what["path"]) for entry in entries if entry.kind == "cgroup"}
