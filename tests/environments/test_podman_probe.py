"""What keeps a host from having containers, each in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.environments.mounts import mount_of
from tierlab.environments.podman import Podman
from tierlab.errors import UserError
from tierlab.machine.programs import SYSTEM_PATH

pytestmark = [pytest.mark.privileged, pytest.mark.usefixtures("containers")]


def test_without_podman_it_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tierlab.environments.podman.SYSTEM_PATH", "/nowhere")
    with pytest.raises(UserError) as refusal:
        Podman.probe()
    assert str(refusal.value) == (
        "system.environment: podman cannot be used here, because packages are missing: podman,"
        " conmon, runc, catatonit; mend that, or use environment 'native'."
    )


def test_a_runtime_that_does_not_run_is_refused_in_its_own_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runc = tmp_path / "runc"
    runc.write_text("#!/bin/sh\necho 'libseccomp.so.2 is missing' >&2; exit 127\n")
    runc.chmod(0o755)
    path = f"{tmp_path}:{SYSTEM_PATH}"
    monkeypatch.setattr("tierlab.environments.podman.SYSTEM_PATH", path)
    with pytest.raises(UserError, match=r"'runc --version' fails \(libseccomp.so.2 is missing\);"):
        Podman.probe()


def test_a_program_on_a_mount_of_its_own_is_refused_by_the_mounts_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tierlab.environments.podman_root.mount_of", lambda _: Path("/usr"))
    with pytest.raises(UserError, match=r"because \S*catatonit lies on /usr, a mount that"):
        Podman.probe()


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
