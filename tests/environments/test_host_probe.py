"""What an environment says that it can do on this host a trial can do then."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.environments.obstacle import obstacle
from tierlab.cli import run_needs
from tierlab.environments import device
from tierlab.environments.capability import Capability
from tierlab.environments.native.native import Native
from tierlab.errors import UserError
from tierlab.trial.disturb_needs import possible_classes

IN_MEMORY = Path("/dev/shm")
"""Is a tmpfs on every Linux."""


def test_a_file_system_in_memory_has_no_disk() -> None:
    reason = device.obstacle(IN_MEMORY)
    assert str(reason).startswith(f"{IN_MEMORY} lies on no disk whose use could be limited")
    with pytest.raises(UserError, match=r"lies on no disk .*; do without the limit\.$"):
        device.device_of(IN_MEMORY)


def test_a_partition_is_its_disks(tmp_path: Path) -> None:
    number = IN_MEMORY.stat().st_dev
    disk, blocks = tmp_path / "devices" / "sda", tmp_path / "dev" / "block"
    for made in (disk / "sda1", blocks):
        made.mkdir(parents=True)
    (disk / "dev").write_text("8:0\n")
    (disk / "sda1" / "partition").write_text("1\n")
    (blocks / f"{os.major(number)}:{os.minor(number)}").symlink_to(disk / "sda1")
    assert device.obstacle(IN_MEMORY, tmp_path) is None
    assert device.device_of(IN_MEMORY, tmp_path) == "8:0"


@pytest.mark.privileged
def test_where_servers_files_lie_on_no_disk_no_use_of_it_is_limited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every fourth demo failed as its database started, and the doctor had said that all works."""
    if (reason := obstacle("native", Capability.DISK)) is not None:
        pytest.skip(reason)
    monkeypatch.setattr("tierlab.environments.native.host_probe.WORK_ROOT", IN_MEMORY)
    probe = Native.probe()
    assert Capability.DISK not in probe.can
    assert probe.cannot[Capability.DISK] == device.obstacle(IN_MEMORY)
    assert {"memory", "disk", "checkpoint", "cold_cache"}.isdisjoint(possible_classes(probe))


@pytest.mark.privileged
@pytest.mark.parametrize(
    ("program", "package"),
    [("ip", "iproute2"), ("nsenter", "util-linux"), ("unshare", "util-linux")],
)
def test_a_network_takes_programs_and_the_first_that_is_missing_is_named(
    program: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without `ip` every trial of root's failed as it began, and the doctor had found all there."""
    if (reason := obstacle("native", Capability.NETWORK)) is not None:
        pytest.skip(reason)
    assert run_needs.PROGRAMS["ip"] == "iproute2"
    for name in {"ip", "nsenter", "unshare", "setpriv", "lstopo-no-graphics"} - {program}:
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    probe = Native.probe()
    assert probe.cannot[Capability.NETWORK] == f"{program} is missing (package {package})"
    assert Capability.UNPRIVILEGED in probe.can
