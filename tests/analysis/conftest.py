"""Runs for the analysis to read: tiny ones written row by row, and made ones."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tierlab.analysis.observed import Observed, observe
from tierlab.tables.run import Run

Tiny = Callable[..., Observed]


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    """Write a run of the given tables, whose runtime is 0 s to ``seconds``, and open it."""
    opened: list[Observed] = []

    def write(
        tables: dict[str, list[dict[str, Any]]], seconds: float = 1.0, **changes: Any
    ) -> Observed:
        phase = {"name": "runtime", "start_ns": 0, "end_ns": round(seconds * 1e9)}
        made_run.write_tables(tmp_path, tables)
        made_run.manifest(**{"phases": [phase], "servers": {}, **changes}).write(tmp_path)
        opened.append(observe(Run(tmp_path)))
        return opened[-1]

    yield write
    for each in opened:
        each.db.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    """A made run of four tiers and 20,000 requests."""
    folder = tmp_path_factory.mktemp("made")
    made_run.make(folder, made_run.Shape(requests=20_000, users=1_500, databases=2, seed=7))
    observed = observe(Run(folder))
    yield observed
    observed.db.close()
