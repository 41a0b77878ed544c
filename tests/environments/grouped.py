"""A control group for processes that a test has started, as a service or a container has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.ledger import Ledger
from tierlab.environments.removal import remove_all

PERIOD_US = 20_000


@contextmanager
def a_group(trial: str, ledgers: Path) -> Iterator[Group]:
    """With nobody in it; what is in it at last is ended."""
    hierarchy = find_hierarchy()
    if isinstance(hierarchy, str):
        pytest.skip(hierarchy)
    ledger = Ledger(trial, ledgers)
    try:
        yield hierarchy.make(ledger, "web.1")
    finally:
        outcomes = list(remove_all(ledger.account(), 2.0))
        ledger.close()
    assert all(outcome.done for outcome in outcomes), outcomes


def put(pids: Iterable[int], group: Group) -> None:
    """Have them go on in the group."""
    for pid in pids:
        for folder in group.entrances():
            (folder / "cgroup.procs").write_text(str(pid))


def hold_back(group: Group, cores: float) -> None:
    """Give its processes a quota."""
    folder, quota = group.folders["cpu"], round(cores * PERIOD_US)
    if (folder / "cpu.max").exists():
        (folder / "cpu.max").write_text(f"{quota} {PERIOD_US}")
    else:
        (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (folder / "cpu.cfs_quota_us").write_text(str(quota))
