"""What is particular about libvirt's containers: what libvirt knows of them, their memory."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from tests.conftest import Traces
from tierlab.environments.containers.lxc import Lxc
from tierlab.environments.containers.lxc_domain import LxcDomain
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.errors import UserError

pytestmark = [pytest.mark.environments, pytest.mark.privileged, pytest.mark.usefixtures("lxc_here")]


@pytest.fixture
def lxc(trial: str, traces: Traces) -> Iterator[Lxc]:  # noqa: ARG001 - looks for what is left
    made = Lxc(Ledger(trial))
    yield made
    made.destroy()


@pytest.fixture
def domain(lxc: Lxc) -> LxcDomain:
    made = lxc.create(DomainSpec("db.1"))
    made.start()
    return made


def memory_seen(domain: LxcDomain) -> int:
    """In bytes; see proc_meminfo(5)."""
    total = domain.run(["grep", "MemTotal", "/proc/meminfo"], timeout=20).stdout
    return int(total.split()[1]) * 1024


def test_without_a_limit_a_container_has_the_whole_memory(domain: LxcDomain) -> None:
    assert domain.read_back().memory is None
    assert memory_seen(domain) == psutil.virtual_memory().total


def test_a_container_sees_its_limit_as_its_memory(domain: LxcDomain) -> None:
    domain.place(Placement(memory=64 << 20))
    assert memory_seen(domain) == 64 << 20


def test_libvirt_knows_the_weight_that_was_set(lxc: Lxc, domain: LxcDomain) -> None:
    domain.place(Placement(weight=2048))
    said = lxc._daemon.virsh("schedinfo", "db.1")
    files = [at / name for at in domain.cgroups().values() for name in ("cpu.shares", "cpu.weight")]
    assert {f"cpu_shares:{file.read_text().strip()}" for file in files if file.exists()} <= {
        line.replace(" ", "") for line in said.splitlines()
    }


def test_a_destroyed_container_is_gone_for_libvirt(lxc: Lxc, domain: LxcDomain) -> None:
    assert lxc._daemon.virsh("list", "--name").split() == ["db.1"]
    domain.destroy()
    assert lxc._daemon.virsh("list", "--all", "--name").split() == []


def test_what_libvirt_refuses_is_told_in_its_own_words(
    lxc: Lxc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierlab.environments.containers.lxc_domain.INIT", ("no-such-init", "-P"))
    domain = lxc.create(DomainSpec("db.1"))
    with pytest.raises(UserError, match=r"^db\.1: 'virsh create' failed: (?!error)\w.*; 'tierlab"):
        domain.start()
