"""A weight is written in the measure of the control groups' version, whatever libvirt takes it for.

Version 2 counts 100 where version 1 and Tierlab count 1024; libvirt writes a number as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.cgroups.cgroup import Group, Hierarchy
from tierlab.environments.cgroups.v1 import V1
from tierlab.environments.cgroups.v2 import V2
from tierlab.environments.containers.lxc_domain import LxcDomain
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.placement import Placement


class Daemon:
    """Sets a weight as libvirt does."""

    def __init__(self, folder: Path, file: Path) -> None:
        self.folder = folder
        self._file = file

    def virsh(self, *arguments: str, **_: object) -> str:
        assert arguments[0] == "schedinfo"
        self._file.write_text(arguments[-1].removeprefix("cpu_shares="))
        return ""


@pytest.mark.parametrize(("name", "text"), [("cpu.shares", "2048"), ("cpu.weight", "200")])
def test_a_weight_is_read_back_as_it_was_set(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / name
    kind: Hierarchy = V2(tmp_path) if name == "cpu.weight" else V1({"cpu": tmp_path})
    ledger = Ledger("weighed", tmp_path / "ledger")
    daemon: Any = Daemon(tmp_path, file)
    ground = Ground("lxc", ledger, tmp_path, cannot={}, hierarchy=kind)
    domain = LxcDomain(ground, DomainSpec("db.1"), daemon)
    domain._group = Group({"cpu": tmp_path})
    assert domain.place(Placement(weight=2048)).weight == 2048
    assert file.read_text() == text
    ledger.close()
