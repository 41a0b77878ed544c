"""Trials as a user runs them: the command `tierlab` in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import Start, commands

EXPERIMENT = """
[experiment]
name = "{name}"
[system]
workload = "rubbos"
scale = 0.002
[load]
users = {users}
phases = {{ ramp_up = "{up}s", runtime = "{run}s", ramp_down = "{down}s" }}
"""


@pytest.fixture
def tierlab(tmp_path: Path) -> Iterator[Start]:
    """Start ``tierlab`` with arguments, its ledgers in ``tmp_path / "state"``."""
    with commands(tmp_path) as start:
        yield start


@pytest.fixture
def experiment(tmp_path: Path) -> Callable[..., Path]:
    """Write an experiment file for a small trial."""

    def write(
        *,
        name: str = "t",
        users: int = 30,
        up: int = 1,
        run: int = 3,
        down: int = 1,
        one_server: bool = False,
        more: str = "",
    ) -> Path:
        path = tmp_path / f"{name}.toml"
        text = EXPERIMENT.format(name=name, users=users, up=up, run=run, down=down)
        if one_server:
            text = text.replace('"rubbos"\nscale = 0.002', '"static"')
        path.write_text(text + more)
        return path

    return write
