"""Whose memory a program's file is.

The kernel charges a page of a file to the control group that first reads it, and keeps it there. So
a server whose program somebody else ran before would use that part of its memory for nothing, and
could never be short of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def files_below(folder: Path) -> list[Path]:
    """Every regular file of a folder."""
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def forget(files: Iterable[Path]) -> None:
    """Drop the files' pages from the cache, except those that a process has mapped.

    Source: posix_fadvise(2), POSIX_FADV_DONTNEED; what is not on the disk yet would stay.
    """
    for path in files:
        file = os.open(path, os.O_RDONLY)
        try:
            os.fdatasync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)
