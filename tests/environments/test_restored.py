"""A guest that is restored is one of its own, and one that cannot be restored boots."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environments.borrowed import lasting
from tests.environments.conftest import usable
from tests.figures import figure
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.guests.words import link
from tierlab.environments.images.image import find
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu
from tierlab.environments.snapshots.shelf import FOLDER
from tierlab.environments.xen.environment import Xen

pytestmark = [pytest.mark.slow, pytest.mark.privileged]

SMALL = Placement(memory=256 << 20)
WHO = "hostname; cat /sys/class/net/eth0/address; ip -4 -br address show eth0; od -N16 /dev/urandom"
SOON_S = 5.0
"""A clock that nobody set would be as old as the snapshot."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with this machine's image for guests, and no snapshot."""
    usable(Qemu)
    image = find("guest").folder
    made = tmp_path / "cache/tierlab/images" / image.name
    made.mkdir(parents=True)
    for part in image.iterdir():
        if part.name != FOLDER:
            (made / part.name).symlink_to(part)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


@pytest.fixture
def qemu(cache: Path, tmp_path: Path) -> Iterator[Qemu]:  # noqa: ARG001 - looks for images there
    with lasting(Qemu, tmp_path / "ledger") as made:
        yield made


def started(environment: Qemu | Xen, spec: DomainSpec) -> Domain:
    began = time.monotonic()
    domain = environment.create(spec)
    domain.start()
    figure(f"{environment.name}: {spec.name} ready after {time.monotonic() - began:.1f} s")
    return domain


def said(domain: Domain, script: str) -> str:
    done = domain.run(["sh", "-c", script], timeout=60)
    assert done.status == 0, done.stderr
    return done.stdout


def check_clock(domain: Domain) -> None:
    before = time.time()
    told = float(said(domain, "date +%s.%N"))
    assert before - SOON_S < told < time.time() + SOON_S


def test_each_of_a_shape_is_one_of_its_own_and_one_that_fails_boots(
    qemu: Qemu, cache: Path
) -> None:
    addresses = [qemu.addresses.server(4, number) for number in (1, 2)]
    found = []
    for number, address in enumerate(addresses, 1):
        domain = started(qemu, DomainSpec(f"db.{number}", SMALL, address=address))
        assert isinstance(domain, QemuDomain)
        assert domain.restored == (number == 2)
        check_clock(domain)
        found.append(said(domain, WHO).split())
        domain.destroy()
    (kept,) = (cache / FOLDER).iterdir()
    for number, (name, mac, _, _, address, *drawn) in enumerate(found, 1):
        end = link(addresses[number - 1])
        assert (name, mac, address) == (f"db.{number}", end.mac, end.address)
        assert drawn not in [other[5:] for other in found[number:]]

    os.truncate(kept, kept.stat().st_size // 2)
    with pytest.warns(UserWarning, match="cannot be restored, so the machine boots instead"):
        domain = started(qemu, DomainSpec("db.3", SMALL, address=addresses[0]))
    assert isinstance(domain, QemuDomain)
    assert not domain.restored
    assert said(domain, "hostname") == "db.3\n"
    assert kept.exists(), "it was taken anew"


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
