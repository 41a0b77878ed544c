"""Version 2 against the kernel: with whatever controller the machine's unified tree has left."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tierlab.environments.cgroups import v2 as cgroup_v2
from tierlab.environments.cgroups.v2 import V2
from tierlab.environments.launching import launch_program
from tierlab.environments.ledger import Ledger
from tierlab.environments.process import Launch
from tierlab.environments.removal import remove_all

pytestmark = pytest.mark.privileged


def unified() -> Path | None:
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, where, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(where)
    return None


@pytest.fixture
def hierarchy(monkeypatch: pytest.MonkeyPatch) -> V2:
    root = unified()
    if os.geteuid() != 0 or root is None:
        pytest.skip("needs root and a unified tree")
    idle = set((root / "cgroup.controllers").read_text().split())
    idle -= set((root / "cgroup.subtree_control").read_text().split())
    if not idle:
        pytest.skip("every controller of the unified tree is handed down already")
    monkeypatch.setattr(cgroup_v2, "CONTROLLERS", (min(idle),))
    return V2(root)


@pytest.mark.alone  # the root of the tree is everybody's
def test_a_group_is_made_entered_measured_and_removed(
    hierarchy: V2, trial: str, tmp_path: Path
) -> None:
    control = hierarchy.root / "cgroup.subtree_control"
    before = control.read_text()
    (controller,) = hierarchy.controllers()
    ledger = Ledger(trial, tmp_path / "ledger")
    group = hierarchy.make(ledger, "db.1")
    assert controller in control.read_text().split()
    assert controller in (group.folders[controller] / "cgroup.controllers").read_text().split()

    launch = Launch(
        ["sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 60"],
        ledger.token,
        cgroups=group.entrances(),
    )
    process = launch_program(ledger, launch, subprocess.DEVNULL, subprocess.DEVNULL)
    while not group.pids() or not hierarchy.stats(group).cpu_ns:
        assert process.poll() is None
    assert process.pid in group.pids()
    assert f"tierlab-{trial}.trial/db.1" in Path(f"/proc/{process.pid}/cgroup").read_text()

    outcomes = list(remove_all(ledger.account(), 2.0))
    assert all(outcome.done for outcome in outcomes), outcomes
    process.wait(5)
    assert not (hierarchy.root / f"tierlab-{trial}.trial").exists()
    if any(hierarchy.root.glob("tierlab-*/")):
        # Somebody else's trial lives in the tree: the controller is left to the last one to go.
        assert controller in control.read_text().split()
        control.write_text(f"-{controller}")
    assert control.read_text() == before
