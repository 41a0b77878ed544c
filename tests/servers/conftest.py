"""Systems to test: the smallest data set, made once a session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from talk import LOAD_DAY, SCALE

from tests.class_archives import share_class_archives
from tierlab import experiment
from tierlab.deploy.system import System
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.workloads.workload import DataKey


def shape(**tiers: Any) -> experiment.System:
    """A `[system]` table with the tiers as given."""
    return experiment.System.of({"workload": "rubbos", "scale": SCALE, **tiers})


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    share_class_archives(folder)
    return folder


@pytest.fixture
def native(
    trial: str,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    traces: object,  # noqa: ARG001 - checked last
) -> Iterator[Native]:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    made = Native(Ledger(trial))
    yield made
    made.destroy()


@pytest.fixture
def build(native: Native, tmp_path: Path) -> Iterator[Callable[..., System]]:
    """Make systems in the environment; whatever came up goes down at the end of the test."""
    systems: list[System] = []

    def make(**tiers: Any) -> System:
        asked = shape(**tiers)
        content = asked.application.content(native, DataKey(SCALE, 1, LOAD_DAY), asked.fidelity)
        system = System(asked, content, native, tmp_path / "logs")
        systems.append(system)
        return system

    yield make
    for system in systems:
        system.stop()
