"""A trial that is broken off while its guests come up leaves nothing on this host."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command import SECONDS, Command, Start
from tests.conftest import host
from tests.environments.obstacle import obstacle
from tests.pace import wait_until
from tests.trial.left import check_clean_clears, check_nothing_left

Write = Callable[..., Path]

pytestmark = [pytest.mark.environments, pytest.mark.slow, pytest.mark.privileged]

FIRST_GUEST, LAST_GUEST = ".guests/web.1.xml", ".guests/db.1.xml"
HOST_FOR_XEN, DOMAIN_OF_XEN = ".xen/host.monitor", ".xen/web.1.cfg"
"""What is there once the one or the other is being made, in the trial's folder."""


@pytest.fixture
def broken_off(environment: str) -> str:
    """The environment, where this machine has it."""
    if (reason := obstacle(environment)) is not None:
        pytest.skip(reason)
    return environment


def wait_until_made(command: Command, name: str) -> None:
    path = Path(f"/var/tmp/tierlab-t-001-{command.process.pid}", name)

    def made() -> bool:
        assert command.process.poll() is None, command.end().stderr
        return path.exists()

    wait_until(made, name, SECONDS)


@pytest.mark.parametrize(
    ("environment", "made"),
    [
        ("qemu", FIRST_GUEST),
        ("qemu", LAST_GUEST),
        ("xen", HOST_FOR_XEN),
        ("xen", DOMAIN_OF_XEN),
    ],
)
def test_ctrl_c_leaves_nothing(
    broken_off: str, made: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=2), "--environment", broken_off)
    wait_until_made(command, made)
    command.signal(signal.SIGINT)
    ended = command.end()
    assert ended.status == 130, ended.stderr
    check_nothing_left(command, tmp_path, before)


@pytest.mark.parametrize(("environment", "made"), [("qemu", LAST_GUEST), ("xen", DOMAIN_OF_XEN)])
def test_kill_9_then_clean_leaves_nothing(
    broken_off: str, made: str, tierlab: Start, experiment: Write, tmp_path: Path
) -> None:
    before = host()
    command = tierlab("run", experiment(run=5), "--environment", broken_off)
    wait_until_made(command, made)
    command.kill()
    check_clean_clears(command, tierlab, tmp_path, before)
