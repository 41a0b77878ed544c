"""Lines at the end of a file: there as a whole, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
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
    """Write a line; it is on the disk when this returns. Raises OSError."""
    with _or_nothing(file):
        _write(file, line)
        os.fsync(file)


def append_soon(file: int, line: bytes) -> None:
    """Write a line that a power failure may take, but no crash of a program. Raises OSError."""
    with _or_nothing(file):
        _write(file, line)


def _write(file: int, line: bytes) -> None:
    # A disk that becomes full takes the beginning, and says so only of the rest.
    if os.write(file, line) < len(line):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def _or_nothing(file: int) -> Iterator[None]:
    """Whatever is raised (OSError), nothing of a line is left to spoil the next one."""
    before = os.fstat(file).st_size
    try:
        yield
    except OSError:
        os.ftruncate(file, before)
        raise


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
