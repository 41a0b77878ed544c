"""On which PUs a server may run, where nobody asked for any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tierlab.environments.cgroups.v2 import V2
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.native import host_domain
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.native.native_domain import NativeDomain
from tierlab.environments.placement import Placement


def domain_in(root: Path, pus: str, *, isolated: str = "") -> NativeDomain:
    """A domain whose control group is of files, and as the kernel would answer with these PUs."""
    unified, trial = root / "unified", f"tierlab-{root.name}.trial"
    unified.mkdir()
    (unified / "cgroup.controllers").write_text("cpuset\n")
    (unified / "cgroup.subtree_control").write_text("cpuset\n")
    (root / "isolated").write_text(f"{isolated}\n")
    ledger = Ledger(root.name, root / "ledger")
    ground = Ground("native", ledger, root, cannot={}, hierarchy=V2(unified))
    domain = NativeDomain(ground, DomainSpec("db.1"))
    domain.start()
    group = unified / trial / "db.1"
    (group / "cpuset.cpus.effective").write_text(f"{pus}\n")
    (group / "cpuset.mems.effective").write_text("0\n")
    return domain


@pytest.mark.parametrize(
    ("isolated", "has"),
    [("", [0, 1, 2, 3]), ("2-3", [0, 1]), ("0-7", [0, 1, 2, 3])],
    ids=["none", "some", "all that it has"],
)
def test_pus_to_which_nothing_comes_by_itself_are_none_of_a_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, isolated: str, has: list[int]
) -> None:
    """They idled beside full ones, and the servers on these were not overloaded."""
    monkeypatch.setattr(host_domain, "ISOLATED", tmp_path / "isolated")
    assert domain_in(tmp_path, "0-3", isolated=isolated).read_back().pus == frozenset(has)


def test_isolated_pus_that_were_asked_for_are_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_domain, "ISOLATED", tmp_path / "isolated")
    domain = domain_in(tmp_path, "1-2", isolated="2-3")
    assert domain.place(Placement(pus=frozenset({1, 2}))).pus == frozenset({1, 2})


def test_without_a_control_group_they_are_the_callers(tmp_path: Path) -> None:
    ground = Ground("native", Ledger("plain", tmp_path / "ledger"), tmp_path, cannot={})
    domain = NativeDomain(ground, DomainSpec("web.1"))
    domain.start()
    assert domain.read_back() == Placement(pus=frozenset(os.sched_getaffinity(0)))
