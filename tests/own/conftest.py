"""The user's own application, and `tierlab` as a user starts it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import Start, commands

FOLDER = Path(__file__).parent
PYTHON = "/usr/bin/python3"
"""One that servers may run, whatever runs the tests."""
SHOP = f"{PYTHON} shop.py {{port}} {{address}}"


@pytest.fixture
def tierlab(tmp_path: Path) -> Iterator[Start]:
    """Start ``tierlab`` with arguments, its ledgers in ``tmp_path / "state"``."""
    with commands(tmp_path) as start:
        yield start


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short path, for sockets: these have 107 bytes at most."""
    with tempfile.TemporaryDirectory(prefix="u-") as folder:
        yield Path(folder)
