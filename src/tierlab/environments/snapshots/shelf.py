"""The snapshots that this machine keeps: beside the image that they were booted from.

A snapshot's name says what made it (image, emulator, processor), and what shape the machine has:
where anything of that differs there is another, or none. It appears by a rename: never half a one.
An image that is removed takes its own with it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tierlab.environments.files import make_folder
from tierlab.environments.images.image import Image
from tierlab.environments.ledger import Ledger
from tierlab.environments.snapshots.machine_state import load, save
from tierlab.environments.snapshots.monitor import Monitor
from tierlab.machine.kernel_files import read_fields

EMULATOR = "qemu-system-x86_64"
FOLDER = "snapshots"
"""In the image's."""


@dataclass(frozen=True)
class Snapshot:
    """Of a machine of one shape; it may be there or not."""

    file: Path

    def exists(self) -> bool:
        """Whether a machine can be restored from it."""
        return self.file.exists()

    def take(self, path: Path, ledger: Ledger) -> None:
        """Keep the state of a machine, which has just booted and goes on then.

        `path`: its monitor's socket. `MonitorError` or OSError if that cannot be.
        """
        if self.exists():
            return
        self.file.parent.mkdir(exist_ok=True)
        partial = self.file.with_name(f".{self.file.name}.{ledger.trial}")
        if partial.exists():
            return  # another guest of this trial's does so at the moment
        entry = make_folder(ledger, partial)
        try:
            with Monitor(path) as monitor:
                save(monitor, path.with_suffix(".state"), partial / "state")
            (partial / "state").rename(self.file)
        finally:
            shutil.rmtree(partial)
            ledger.strike(entry)

    def restore(self, path: Path) -> None:
        """Give a machine that waits for one its state; `MonitorError` or OSError if it fails."""
        with Monitor(path) as monitor:
            load(monitor, path.with_suffix(".state"), self.file)
        with suppress(OSError):  # somebody else's cache, or one that cannot be written
            os.utime(self.file)

    def drop(self) -> None:
        """Remove one that cannot be used."""
        with suppress(OSError):
            self.file.unlink()


def unusable(kept: Snapshot, error: Exception) -> None:
    """Say that a machine boots instead, and have no other try: it is taken anew."""
    kept.drop()
    _say(f"a snapshot cannot be restored, so the machine boots instead: {error}")


def unkept(error: Exception) -> None:
    """Say that the next machine of this shape will boot too."""
    _say(f"a machine that has booted cannot be kept for the next, which boots too: {error}")


def _say(text: str) -> None:
    """Once a process, since Python repeats no warning."""
    warnings.warn(f"system.environment: {text}", stacklevel=3)


def snapshot(image: Image, shape: str) -> Snapshot:
    """Where that of a machine of that shape is kept, if there is one."""
    return Snapshot(image.folder / FOLDER / f"{made_by(image)}-{_hash(shape)}")


def made_by(image: Image) -> str:
    """Names what a snapshot of this image's depends on besides the machine's shape."""
    return _hash(image.record.read_text(), emulator(), *_processor())


def snapshots(image: Image) -> list[Snapshot]:
    """All that are kept of an image's machines."""
    return [Snapshot(file) for file in sorted((image.folder / FOLDER).glob("[!.]*"))]


def outdated(image: Image) -> list[Snapshot]:
    """Those that nothing here restores: another QEMU took them, or on another processor."""
    mine = made_by(image)
    return [each for each in snapshots(image) if not each.file.name.startswith(mine)]


@cache
def emulator() -> str:
    """QEMU's version; of another one the state may have another form."""
    try:
        done = subprocess.run(
            [EMULATOR, "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError as error:
        return str(error)
    return done.stdout


def _processor() -> list[str]:
    """The processor's kind. A kernel that has booted knows how fast the counter is that it has."""
    fields = read_fields(Path("/proc/cpuinfo"))
    return [fields.get(name, "") for name in ("vendor_id", "model name", "stepping", "microcode")]


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
