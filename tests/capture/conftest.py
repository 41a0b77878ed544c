"""One traced system for all tests of this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "trace"))

from tracer_bed import Bed


@pytest.fixture(scope="package")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder: Path = tmp_path_factory.mktemp("tracer")
    kept = {name: os.environ.get(name) for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")}
    os.environ.update({name: str(folder / name) for name in kept})
    made = Bed(folder)
    try:
        made.start_under_load()
        yield made
    finally:
        made.stop()
        for name, value in kept.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
