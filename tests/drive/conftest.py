"""A site to drive, and a driver."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .driving import Driver


@pytest.fixture
def drive(tmp_path: Path) -> Driver:
    return Driver(tmp_path / "drive")


@pytest.fixture
def site() -> Iterator[Callable[..., int]]:
    """Starts a site, given the options of fake_site.py, and returns its port."""
    started = []

    def start(*options: str) -> int:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("fake_site.py")), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        return int(process.stdout.readline())

    yield start
    for process in started:
        process.communicate()
