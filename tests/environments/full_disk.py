"""A disk that takes no more."""

from __future__ import annotations

import errno
import os

import pytest


def full_disk(monkeypatch: pytest.MonkeyPatch, *, takes: float = 0.0) -> None:
    """Have what is written refused, or so much of it taken first."""
    write = os.write

    def refused(file: int, line: bytes) -> int:
        if not takes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, line[: round(len(line) * takes)])

    monkeypatch.setattr(os, "write", refused)
