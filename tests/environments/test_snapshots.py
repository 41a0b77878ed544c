"""The state of a machine is kept and restored: by QEMU itself, with a machine that has no system.

It counts in its memory, in 16 bits at `COUNTER`, for as long as it runs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.pace import wait_until
from tierlab.cli.clean import clean
from tierlab.environments.images.image import Image
from tierlab.environments.ledger import Ledger, accounts
from tierlab.environments.snapshots.monitor import Monitor, MonitorError
from tierlab.environments.snapshots.shelf import EMULATOR, Snapshot, snapshot
from tierlab.machine.programs import locate

pytestmark = pytest.mark.skipif(locate(EMULATOR) is None, reason="needs qemu-system-x86")

COUNTER = 0x500
COUNTS = bytes.fromhex("31c0 8ed8 ff060005 ebfa")
"""xor ax, ax; mov ds, ax; again: inc word [0x500]; jmp again."""
ROM_BYTES = 1 << 16
JUMP = bytes.fromhex("ea 0000 00f0")
"""jmp 0xf000:0, where the ROM begins: the first instruction, 16 bytes below the ROM's end."""
SMALL = 16 << 10
"""Bytes: less than the state of any machine takes."""

OWNER = """
import sys
from pathlib import Path
from tierlab.environments.images.image import Image
from tierlab.environments.ledger import Ledger
from tierlab.environments.snapshots import machine_state, shelf

def half(link, file):
    file.write_bytes(link.recv(1000))
    print("half", flush=True)
    sys.stdin.read()

machine_state._receive = half
image, monitor = map(Path, sys.argv[1:])
shelf.snapshot(Image(image), "shape").take(monitor, Ledger("killed"))
"""

Start = Callable[..., Path]


@pytest.fixture(autouse=True)
def ledgers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def image(tmp_path: Path) -> Image:
    made = Image(tmp_path / "image")
    made.folder.mkdir()
    made.record.write_text("{}")
    return made


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a machine; the socket of its monitor."""
    rom = tmp_path / "rom"
    rom.write_bytes((COUNTS.ljust(ROM_BYTES - 16, b"\0") + JUMP).ljust(ROM_BYTES, b"\0"))
    started: list[subprocess.Popen[bytes]] = []

    def machine(name: str, *more: str) -> Path:
        monitor = tmp_path / f"{name}.monitor"
        command = [EMULATOR, "-nodefaults", "-display", "none", "-accel", "tcg", "-m", "16"]
        command += ["-bios", str(rom), "-qmp", f"unix:{monitor},server=on,wait=off", *more]
        started.append(subprocess.Popen(command))
        return monitor

    yield machine
    for process in started:
        process.kill()
        process.wait()


def count(path: Path) -> int:
    """The counter, while the machine runs."""
    with Monitor(path) as monitor:
        assert monitor.ask("query-status")["running"]
        said = monitor.ask("human-monitor-command", **{"command-line": f"xp /1hx {COUNTER:#x}"})
    return int(said.split(":")[1], 16)


def check_counts(path: Path) -> None:
    first = count(path)
    wait_until(lambda: count(path) != first, "the counting", 20)


def kept(start: Start, image: Image) -> Snapshot:
    """One of a machine that has counted, and goes on with it."""
    ledger, found = Ledger("t"), snapshot(image, "shape")
    first = start("first")
    check_counts(first)
    found.take(first, ledger)
    check_counts(first)
    ledger.close()
    assert accounts() == []
    return found


def test_a_machine_goes_on_where_another_was_kept(start: Start, image: Image) -> None:
    found = kept(start, image)
    assert snapshot(image, "shape").exists()
    assert not snapshot(image, "another shape").exists()
    second = start("second", "-incoming", "defer")
    found.restore(second)
    check_counts(second)
    assert list(found.file.parent.iterdir()) == [found.file]


def test_of_another_image_none_is_restored(start: Start, image: Image) -> None:
    assert kept(start, image).exists()
    image.record.write_text('{"versions": {"qemu-guest-agent": "another"}}')
    assert not snapshot(image, "shape").exists()


def test_a_cut_snapshot_is_refused(start: Start, image: Image) -> None:
    found = kept(start, image)
    os.truncate(found.file, found.file.stat().st_size // 2)
    second = start("second", "-incoming", "defer")
    with pytest.raises((MonitorError, OSError)):
        found.restore(second)


def test_one_of_a_machine_with_more_memory_is_refused(start: Start, image: Image) -> None:
    """Whatever the shape says: QEMU itself compares."""
    found = kept(start, image)
    with pytest.raises((MonitorError, OSError)):
        found.restore(start("second", "-m", "32", "-incoming", "defer"))


@pytest.mark.privileged
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_without_room_nothing_is_kept_and_the_machine_goes_on(start: Start, tmp_path: Path) -> None:
    small = tmp_path / "tierlab-small"  # other tests look for mounts that are nobody's
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "small", small], check=True)
    try:
        full = Image(small)
        full.record.write_text("{}")
        first, ledger = start("first"), Ledger("t")
        with pytest.raises(OSError, match="No space left"):
            snapshot(full, "shape").take(first, ledger)
        ledger.close()
        assert not snapshot(full, "shape").exists()
        assert list((small / "snapshots").iterdir()) == []
        check_counts(first)
    finally:
        subprocess.run(["umount", small], check=True)


def test_kill_9_while_one_is_taken_leaves_none(start: Start, image: Image) -> None:
    first = start("first")
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, image.folder, first],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "half\n"
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
    found = snapshot(image, "shape")
    assert not found.exists()
    assert list(found.file.parent.iterdir()) != []
    clean()
    assert list(found.file.parent.iterdir()) == []
    shutil.rmtree(found.file.parent)
