"""The disk that a folder lies on, as the control groups name it."""

from __future__ import annotations

import os
from pathlib import Path

from tierlab.errors import UserError


def device_of(folder: Path, sys: Path = Path("/sys")) -> str:
    """`major:minor` of the whole disk, not of a partition of it; `UserError` if there is none."""
    device = folder.stat().st_dev
    block = sys / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}"
    if not block.exists():
        raise UserError(
            f"{folder}: lies on no disk whose use could be limited (a file system in memory or of"
            " several layers); do without the limit."
        )
    disk = block.resolve()
    if (disk / "partition").exists():
        disk = disk.parent
    return (disk / "dev").read_text().strip()
