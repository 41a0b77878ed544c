"""The first file system of a guest's kernel: what is in it, in which order, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierlab.environments.images import initramfs
from tierlab.errors import UserError

HEAD = 110
"""Bytes of an entry's head in format newc."""

DEPENDENCIES = """\
kernel/fs/9p/9p.ko: kernel/net/9p/9pnet.ko kernel/fs/netfs/netfs.ko
kernel/net/9p/9pnet_virtio.ko: kernel/net/9p/9pnet.ko kernel/drivers/virtio/virtio.ko
kernel/net/9p/9pnet.ko:
kernel/fs/netfs/netfs.ko:
kernel/drivers/virtio/virtio.ko:
kernel/drivers/char/hw_random/virtio-rng.ko: kernel/drivers/virtio/virtio.ko
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    release = tmp_path / "lib/modules/6.1.0"
    release.mkdir(parents=True)
    (release / "modules.dep").write_text(DEPENDENCIES)
    (release / "modules.builtin").write_text("kernel/fs/overlayfs/overlay.ko\n")
    for line in DEPENDENCIES.splitlines():
        module = release / line.partition(":")[0]
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(module.name)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/busybox").write_bytes(b"all in one")
    return tmp_path


def unpacked(archive: bytes) -> dict[str, bytes]:
    found, at = {}, 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * k : at + 14 + 8 * k], 16) for k in range(13)]
        size, length = fields[6], fields[11]
        name = archive[at + HEAD : at + HEAD + length - 1].decode()
        at += HEAD + length + -(HEAD + length) % 4
        if name == "TRAILER!!!":
            return found
        found[name] = archive[at : at + size]
        at += size + -size % 4


def test_every_module_comes_after_those_it_needs(tree: Path) -> None:
    dependencies = tree / "lib/modules/6.1.0/modules.dep"
    order = initramfs.in_order(dependencies, ["9p", "9pnet_virtio", "virtio_rng", "overlay"])
    names = [Path(path).name for path in order]
    assert sorted(names) == sorted(set(names))
    assert set(names) == {Path(line.partition(":")[0]).name for line in DEPENDENCIES.splitlines()}
    assert names.index("9pnet.ko") < names.index("9p.ko")
    assert names.index("netfs.ko") < names.index("9p.ko")
    assert names.index("virtio.ko") < names.index("9pnet_virtio.ko")


def test_a_module_that_the_kernel_lacks_is_named(tree: Path) -> None:
    with pytest.raises(UserError, match="no module erofs"):
        initramfs.in_order(tree / "lib/modules/6.1.0/modules.dep", ["erofs"])


def test_it_holds_what_the_first_program_needs(tree: Path, tmp_path: Path) -> None:
    initramfs.pack(tmp_path / "packed", tree, ["9p"], "#!/bin/sh\n")
    found = unpacked((tmp_path / "packed").read_bytes())
    assert found["init"] == b"#!/bin/sh\n"
    assert found["bin/busybox"] == b"all in one"
    assert found["bin/mount"] == b"busybox"
    loaded = found["modules/order"].decode().split()
    assert loaded[-1] == "9p.ko"
    assert all(found[f"modules/{name}"] == name.encode() for name in loaded)


def test_the_same_parts_give_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    initramfs.pack(tmp_path / "first", tree, ["9p", "virtio_rng"], "#!/bin/sh\n")
    os.utime(tree / "bin/busybox", (1, 1))
    initramfs.pack(tmp_path / "second", tree, ["9p", "virtio_rng"], "#!/bin/sh\n")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
