"""The guests' image: whole or not there, the same each time, and with nobody's secrets in it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Start, commands
from tests.conftest import host
from tests.figures import figure
from tests.pace import wait_until
from tierlab.environments.images import build as image_build
from tierlab.environments.images.image import GUEST, Image, place
from tierlab.environments.ledger import accounts
from tierlab.machine.programs import locate

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(
        any(locate(program) is None for program in image_build.PROGRAMS),
        reason="needs mmdebstrap and erofs-utils",
    ),
]

SET_UP = place(GUEST)
"""What set-up has built on this machine."""
SECRETS = (b"PRIVATE KEY-----", b"OPENSSH PRIVATE")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "cache" / "tierlab" / "images"


@pytest.fixture
def tierlab(tmp_path: Path) -> Iterator[Start]:
    with commands(tmp_path) as start:
        yield start


def digests(image: Image) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in image.folder.iterdir()
        if path.is_file()
    }


def another(first: Image) -> Image:
    """The one that set-up has built, at another time, if the archives had the same packages then;
    otherwise it is built once more.
    """
    if SET_UP.record.exists() and SET_UP.record.read_bytes() == first.record.read_bytes():
        return SET_UP
    return image_build.build(GUEST, lambda _: None)


@pytest.mark.timeout(900)
def test_it_is_the_same_each_time_and_holds_no_secret(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = host()
    began = time.monotonic()
    first = image_build.build(GUEST, lambda _: None)
    figure(f"built in {time.monotonic() - began:.0f} s")
    assert [path.name for path in cache.iterdir()] == [GUEST.key]
    assert accounts() == []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "again"))
    assert digests(first) == digests(another(first))
    assert not (changed := host().unlike(before)), changed

    root = tmp_path / "root"
    extract = ["fsck.erofs", f"--extract={root}", str(first.root)]
    subprocess.run(extract, check=True, capture_output=True, timeout=300)
    passwords = [line.split(":")[1] for line in (root / "etc/shadow").read_text().splitlines()]
    assert set(passwords) <= {"*", "!", "!*"}
    assert not list(root.glob("etc/ssh/ssh_host_*"))
    assert not list(root.glob("etc/ssl/private/*"))
    for name in ("etc/machine-id", "etc/resolv.conf", "etc/hostname", "etc/apt/sources.list"):
        assert not (root / name).exists()
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    assert [path for path in files if holds_secret(path)] == []


def holds_secret(path: Path) -> bool:
    """Whether a file is a key; programs and archives that know the words are none."""
    content = path.read_bytes()
    return b"\0" not in content[:1024] and any(word in content for word in SECRETS)


def test_one_that_was_broken_off_leaves_nothing(
    tierlab: Start, cache: Path, tmp_path: Path
) -> None:
    before = host()
    building = tierlab("image", "build")
    building.wait_for("image: kernel")
    wait_until((cache / f".{GUEST.key}").exists, "the folder to build in", 60)
    time.sleep(3)
    building.kill()
    assert list(cache.iterdir()) == [cache / f".{GUEST.key}"], "a killed one cannot tidy up"
    cleaned = tierlab("clean").end()
    assert cleaned.status == 0, cleaned.stderr
    assert list(cache.iterdir()) == []
    assert not [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert not (changed := host().unlike(before)), changed
