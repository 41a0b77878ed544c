"""What tests of containers share: each environment that makes them, where this host has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.environments.borrowed import borrowed, lasting
from tests.environments.obstacle import obstacle
from tierlab.environments.containers.docker import Docker
from tierlab.environments.containers.entered_domain import EnteredDomain
from tierlab.environments.containers.lxc import Lxc
from tierlab.environments.containers.podman import Podman
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.qemu.environment import Qemu
from tierlab.environments.xen.environment import Xen


def usable(kind: type[HostEnvironment]) -> type[HostEnvironment]:
    """Where no container can be made, the test is skipped with the reason."""
    if (reason := obstacle(kind.name)) is not None:
        pytest.skip(reason)
    return kind


@pytest.fixture
def podman_here() -> None:
    usable(Podman)


@pytest.fixture
def lxc_here() -> None:
    usable(Lxc)


@pytest.fixture
def docker_here() -> None:
    usable(Docker)


@pytest.fixture(scope="module", params=[Podman, Docker, Lxc], ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> type[HostEnvironment]:
    return usable(request.param)


@pytest.fixture(scope="module")
def kept(
    kind: type[HostEnvironment], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HostEnvironment]:
    """One serves a module's tests: some have a daemon to start."""
    with lasting(kind, tmp_path_factory.mktemp("ledger")) as made:
        yield made


@pytest.fixture
def containers(kept: HostEnvironment) -> Iterator[HostEnvironment]:
    """The module's, with no domain before the test nor after it."""
    with borrowed(kept):
        yield kept


@pytest.fixture
def domain(containers: HostEnvironment) -> EnteredDomain:
    made = containers.create(DomainSpec("db.1"))
    assert isinstance(made, EnteredDomain)
    made.start()
    return made


@pytest.fixture
def guests_here() -> None:
    usable(Qemu)


@pytest.fixture(scope="module")
def qemu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Qemu]:
    """One serves a module's tests."""
    usable(Qemu)
    with lasting(Qemu, tmp_path_factory.mktemp("ledger")) as made:
        yield made


@pytest.fixture
def xen_here() -> None:
    usable(Xen)


@pytest.fixture(scope="module")
def xen_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Xen]:
    """One serves a module's tests: it takes long to boot."""
    usable(Xen)
    with lasting(Xen, tmp_path_factory.mktemp("ledger")) as made:
        yield made


@pytest.fixture
def xen(xen_host: Xen) -> Iterator[Xen]:
    """The module's host, with no domain before the test nor after it."""
    with borrowed(xen_host):
        yield xen_host
