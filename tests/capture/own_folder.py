"""A folder for servers that do not run as root."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
"""The beginning of a command that runs as an unprivileged user."""


@contextmanager
def folder_of_nobody() -> Iterator[Path]:
    """Make a folder that an unprivileged user owns and reaches, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="tierlab-test-"))
    try:
        os.chown(folder, NOBODY, NOBODY)
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)
