"""What keeps a host from having containers, each in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.environments.containers.docker import Docker
from tierlab.environments.containers.lxc import Lxc
from tierlab.environments.containers.podman import Podman
from tierlab.environments.mounts import mount_of
from tierlab.environments.native.host import HostEnvironment
from tierlab.errors import UserError
from tierlab.machine.programs import SYSTEM_PATH

pytestmark = pytest.mark.privileged


@pytest.mark.parametrize(
    ("kind", "packages"),
    [
        (Podman, "podman, conmon, runc, catatonit"),
        (Docker, "docker.io, containerd, runc, catatonit"),
        (Lxc, "libvirt-daemon, libvirt-clients, catatonit"),
    ],
)
def test_without_its_programs_it_is_refused_in_a_sentence(
    kind: type[HostEnvironment], packages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierlab.environments.containers.probe.SYSTEM_PATH", "/nowhere")
    with pytest.raises(UserError) as refusal:
        kind.probe()
    assert str(refusal.value) == (
        f"system.environment: {kind.name} cannot be used here, because packages are missing:"
        f" {packages}; mend that, or use environment 'native'."
    )


@pytest.mark.usefixtures("podman_here")
def test_a_runtime_that_does_not_run_is_refused_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runc = tmp_path / "runc"
    runc.write_text("#!/bin/sh\necho 'libseccomp.so.2 is missing' >&2; exit 127\n")
    runc.chmod(0o755)
    path = f"{tmp_path}:{SYSTEM_PATH}"
    monkeypatch.setattr("tierlab.environments.containers.runc.SYSTEM_PATH", path)
    with pytest.raises(UserError, match=r"'runc --version' fails \(libseccomp.so.2 is missing\);"):
        Podman.probe()


@pytest.mark.usefixtures("lxc_here")
def test_without_the_driver_libvirt_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tierlab.environments.daemons.libvirt.DRIVERS", ("nowhere",))
    with pytest.raises(UserError, match=r"packages are missing: libvirt-daemon-driver-lxc;"):
        Lxc.probe()


def test_a_program_on_a_mount_of_its_own_is_refused_by_the_mounts_name(
    kind: type[HostEnvironment], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierlab.environments.containers.root.mount_of", lambda _: Path("/usr"))
    with pytest.raises(UserError, match=r"because \S*catatonit lies on /usr, a mount that"):
        kind.probe()


def test_the_mount_of_a_file_is_the_innermost_behind_its_links(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/vda / ext4 rw 0 0\n/dev/vdb /opt ext4 rw 0 0\n"
        f"/dev/vdc {tmp_path}/of\\040its\\040own ext4 rw 0 0\n"
    )
    (tmp_path / "link").symlink_to(tmp_path / "of its own" / "program")
    assert mount_of(tmp_path / "link", mounts) == tmp_path / "of its own"
    assert mount_of(Path("/opt/jdk/bin/java"), mounts) == Path("/opt")
    assert mount_of(Path("/options"), mounts) == Path("/")
