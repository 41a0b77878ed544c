"""A guest that is restored is one of its own, and one that cannot be restored boots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environments.borrowed import lasting
from tests.environments.conftest import usable
from tests.figures import figure
from tierlab.environments.domain import DomainSpec
from tierlab.environments.guests.words import link
from tierlab.environments.images.image import find
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu
from tierlab.environments.snapshots.shelf import FOLDER
from tierlab.environments.xen.environment import Xen

pytestmark = [pytest.mark.environments, pytest.mark.slow, pytest.mark.privileged]

SMALL = Placement(memory=256 << 20)
WHO = "hostname; cat /sys/class/net/eth0/address; ip -4 -br address show eth0; od -N16 /dev/urandom"
SOON_S = 5.0
"""A clock that nobody set would be as old as the snapshot."""


@pytest.fixture
def qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Qemu]:
    """With a cache with this machine's image for guests, and no snapshot."""
    usable(Qemu)
    image = find("guest").folder
    made = tmp_path / "cache/tierlab/images" / image.name
    made.mkdir(parents=True)
    for part in image.iterdir():
        if part.name != FOLDER:
            (made / part.name).symlink_to(part)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with lasting(Qemu, tmp_path / "ledger") as environment:
        yield environment


def started(domain: QemuDomain) -> None:
    began = time.monotonic()
    domain.start()
    figure(f"qemu: {domain.spec.name} ready after {time.monotonic() - began:.1f} s")


def said(domain: QemuDomain, script: str) -> str:
    done = domain.run(["sh", "-c", script], timeout=60)
    assert done.status == 0, done.stderr
    return done.stdout


def check_clock(domain: QemuDomain) -> None:
    before = time.time()
    told = float(said(domain, "date +%s.%N"))
    assert before - SOON_S < told < time.time() + SOON_S


def test_one_that_cannot_be_restored_boots_and_the_next_is_one_of_its_own(qemu: Qemu) -> None:
    addresses = [qemu.addresses.server(4, number) for number in (1, 2)]
    domains = [
        qemu.create(DomainSpec(f"db.{number}", SMALL, address=address))
        for number, address in enumerate(addresses, 1)
    ]
    first, second = domains
    kept = first.snapshot.file
    kept.parent.mkdir()
    kept.write_bytes(b"no machine")
    with pytest.warns(UserWarning, match="cannot be restored, so the machine boots instead"):
        started(first)
    assert kept.stat().st_size > 1 << 20, "it was taken anew"
    started(second)
    assert (first.restored, second.restored) == (False, True)

    found = []
    for domain, address in zip(domains, addresses, strict=True):
        check_clock(domain)
        name, mac, _, _, own, *drawn = said(domain, WHO).split()
        end = link(address)
        assert (name, mac, own) == (domain.spec.name, end.mac, end.address)
        found.append(drawn)
    assert found[0] != found[1]


def test_the_next_host_for_xen_is_restored(tmp_path: Path) -> None:
    usable(Xen)
    drawn = []
    for number in (1, 2):
        with lasting(Xen, tmp_path / f"ledger{number}") as xen:
            began = time.monotonic()
            xen.host.wait_ready()
            figure(f"Xen: ready after {time.monotonic() - began:.1f} s")
            before = time.time()
            told, *random = xen.host.run("date +%s; od -N16 /dev/urandom; xl list").splitlines()
            assert before - SOON_S < float(told) < time.time() + SOON_S
            assert "Domain-0" in random[-1]
            drawn.append(random[0])
    assert xen.host.restored
    assert drawn[0] != drawn[1]
