"""One traced system for all tests of this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "trace"))

from tracer_bed import Bed

from tests.class_archives import share_class_archives


@contextmanager
def places_of_its_own(folder: Path) -> Iterator[None]:
    """Seed data and ledgers lie in the folder while the block runs, and for nobody else."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
            environment.setenv(name, str(folder / name))
        yield


@pytest.fixture(scope="session")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder: Path = tmp_path_factory.mktemp("tracer")
    share_class_archives(folder / "XDG_CACHE_HOME")
    with places_of_its_own(folder):
        made = Bed(folder)
    try:
        with places_of_its_own(folder):
            made.start_under_load()
        yield made
    finally:
        with places_of_its_own(folder):
            made.stop()
