"""A trial that is broken off while its guests boot leaves nothing on this host."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.trial.left import check_clean_clears, check_nothing_left

Write = Callable[..., Path]
BOOTING = "start servers"

pytestmark = [pytest.mark.environments, pytest.mark.slow, pytest.mark.privileged]


@pytest.fixture
def broken_off(environment: str) -> str:
    """The environment, where this machine has it."""
    if (reason := obstacle(environment)) is not None:
        pytest.skip(reason)
    return environment


@pytest.mark.parametrize(
    ("environment", "seconds"), [("qemu", 3), ("qemu", 12), ("xen", 3), ("xen", 32)]
)
def test_ctrl_c_leaves_nothing(
    broken_off: str, seconds: int, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=2), "--environment", broken_off)
    command.wait_for(BOOTING)
    time.sleep(seconds)
    command.signal(signal.SIGINT)
    ended = command.end()
    assert ended.status == 130, ended.stderr
    check_nothing_left(command, tmp_path, before)


@pytest.mark.parametrize(("environment", "seconds"), [("qemu", 12), ("xen", 32)])
def test_kill_9_then_clean_leaves_nothing(
    broken_off: str, seconds: int, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=5), "--environment", broken_off)
    command.wait_for(BOOTING)
    time.sleep(seconds)
    command.kill()
    check_clean_clears(command, tierlab, tmp_path, before)
