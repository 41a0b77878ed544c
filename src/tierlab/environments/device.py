"""The disk that a folder lies on, as the control groups name it."""

from __future__ import annotations

import os
from pathlib import Path

from tierlab.errors import UserError

SYS = Path("/sys")


def obstacle(folder: Path, sys: Path = SYS) -> str | None:
    """Why the use of the disk that a folder lies on cannot be limited; None if it can."""
    if not folder.exists():
        return f"there is no {folder}"
    if _block(folder, sys).exists():
        return None
    return (
        f"{folder} lies on no disk whose use could be limited (but on a file system in memory, of"
        " several layers, or of its own device, as Btrfs and ZFS are)"
    )


def device_of(folder: Path, sys: Path = SYS) -> str:
    """`major:minor` of the whole disk, not of a partition of it; `UserError` if there is none."""
    if (reason := obstacle(folder, sys)) is not None:
        raise UserError(f"{reason}; do without the limit.")
    disk = _block(folder, sys).resolve()
    if (disk / "partition").exists():
        disk = disk.parent
    return (disk / "dev").read_text().strip()


def _block(folder: Path, sys: Path) -> Path:
    device = folder.stat().st_dev
    return sys / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}"
