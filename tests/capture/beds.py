"""Servers to be traced that do not run as root: a folder of theirs, and their life."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import pytest
from traced_servers import TracedServers

NOBODY = 65534
READY_S = 20.0
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


class Bed(Protocol):
    """Servers in a network namespace, with clients that speak their protocol."""

    def start(self) -> None:
        """Start them and wait until they answer."""

    def stop(self) -> None:
        """End them and remove the namespace."""


Made = TypeVar("Made", bound=Bed)


@contextmanager
def started(bed: Callable[[Path], Made]) -> Iterator[Made]:
    """Start servers in a folder of their own, for as long as the block runs."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    with folder_of_nobody() as folder:
        made = bed(folder)
        try:
            made.start()
            yield made
        finally:
            made.stop()


def wait_for(servers: TracedServers, address: str, port: int, log: Path) -> None:
    """Wait until one of them takes connections; what it said is told if it does not."""
    deadline = time.monotonic() + READY_S
    while True:
        try:
            return servers.native.connect(address, port, timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)
