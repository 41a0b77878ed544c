"""Lines at the end of a file: on the disk as a whole, or not there."""

from __future__ import annotations

import errno
import os
from pathlib import Path


def begin(path: Path, first: bytes) -> int | None:
    """Make a file, its first line in it from the beginning: no reader ever sees it empty.

    Returns it open for `append`; None if there is one of that name. Raises OSError.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    try:
        append(file, first)
        path.hardlink_to(new)
        _sync_folder(path.parent)
    except FileExistsError:
        os.close(file)
        return None
    except OSError:
        os.close(file)
        raise
    finally:
        new.unlink()
    return file


def append(file: int, line: bytes) -> None:
    """Write a line; whatever is raised (OSError), nothing of it is left to spoil the next one."""
    before = os.fstat(file).st_size
    try:
        # A disk that becomes full takes the beginning, and says so only of the rest.
        if os.write(file, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file)
    except OSError:
        os.ftruncate(file, before)
        raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
