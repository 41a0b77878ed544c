from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tierlab.environments.capability import Capability
from tierlab.environments.cgroups import v2 as cgroup_v2
from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.cgroups.find import find_hierarchy
from tierlab.environments.cgroups.mixed import Mixed
from tierlab.environments.cgroups.v1 import V1
from tierlab.environments.cgroups.v2 import V2
from tierlab.environments.domain import DomainStats
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.environments.removal import remove_all
from tierlab.errors import UserError
from tierlab.machine.control_groups import with_controller


def mounts(tmp_path: Path, *lines: str) -> Path:
    """A folder in place of /proc, with such mounts."""
    (tmp_path / "mounts").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def test_version_1_controllers_are_found_one_by_one_and_together(tmp_path: Path) -> None:
    for name in ("cpu,cpuacct", "memory", "unified"):
        (tmp_path / name).mkdir()
    found = find_hierarchy(
        mounts(
            tmp_path,
            f"cgroup2 {tmp_path}/unified cgroup2 rw 0 0",
            f"cgroup {tmp_path}/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0",
            f"cgroup {tmp_path}/memory cgroup rw,relatime,memory 0 0",
            "proc /proc proc rw 0 0",
        )
    )
    assert isinstance(found, V1)
    assert found.controllers() == {
        "cpu": tmp_path / "cpu,cpuacct",
        "cpuacct": tmp_path / "cpu,cpuacct",
        "memory": tmp_path / "memory",
    }
    assert {str(capability) for capability in found.missing()} == {"pin", "disk"}


def test_version_2_is_found_where_version_1_has_nothing(tmp_path: Path) -> None:
    root = unified(tmp_path)
    found = find_hierarchy(mounts(tmp_path, f"cgroup2 {root} cgroup2 rw 0 0"))
    assert isinstance(found, V2)
    assert list(found.controllers()) == ["cpu", "cpuset", "memory", "pids"]


def test_a_containers_own_group_with_processes_in_it_is_a_reason(tmp_path: Path) -> None:
    """A privileged container may write there; the kernel refused what no file had asked for."""
    root = unified(tmp_path)
    proc = mounts(tmp_path, f"cgroup2 {root} cgroup2 rw 0 0")
    (root / "cgroup.procs").write_text("1\n")
    assert isinstance(find_hierarchy(proc), V2), "the true root, which has no type, may"
    (root / "cgroup.type").write_text("domain\n")
    assert find_hierarchy(proc) == (
        f"{root} is a container's own group and has processes in it"
        " (start the container with --cgroupns=host)"
    )
    (root / "cgroup.procs").write_text("")  # as systemd leaves it, which moves them below
    assert isinstance(find_hierarchy(proc), V2)


def test_no_control_groups_is_a_reason(tmp_path: Path) -> None:
    assert find_hierarchy(mounts(tmp_path, "proc /proc proc rw 0 0")) == (
        "no controller of the control groups is mounted"
    )


def hybrid(tmp_path: Path) -> Path:
    """CPU the old way, the rest in the unified tree; the folder in place of /proc."""
    old, new = tmp_path / "cpu,cpuacct", tmp_path / "unified"
    for folder in (old, new):
        folder.mkdir()
    (new / "cgroup.controllers").write_text("cpuset memory pids\n")
    (new / "cgroup.subtree_control").write_text("cpuset memory pids\n")
    return mounts(
        tmp_path,
        f"cgroup2 {new} cgroup2 rw 0 0",
        f"cgroup {old} cgroup rw,relatime,cpu,cpuacct 0 0",
    )


def test_a_run_uses_each_controller_where_the_doctor_tries_it(tmp_path: Path) -> None:
    proc = hybrid(tmp_path)
    found = find_hierarchy(proc)
    assert isinstance(found, Mixed)
    assert set(found.missing()) == {Capability.DISK}
    for controller, root in found.controllers().items():
        mounted = with_controller(controller, proc)
        assert mounted is not None
        assert mounted.root == root, controller
    assert set(found.controllers()) == {"cpu", "cpuacct", "cpuset", "memory", "pids"}


def test_a_domain_on_a_hybrid_host_is_placed_in_both_trees(tmp_path: Path) -> None:
    hierarchy = find_hierarchy(hybrid(tmp_path))
    assert isinstance(hierarchy, Mixed)
    group = hierarchy.make(Ledger("both", tmp_path / "ledger"), "db.1")
    old, new = (tmp_path / tree / "tierlab-both.trial/db.1" for tree in ("cpu,cpuacct", "unified"))
    assert group.entrances() == [old, new]
    (old / "cpuacct.usage").write_text("1500\n")
    for name, text in {
        "cgroup.controllers": "cpuset memory pids",
        "cpu.stat": "usage_usec 9",
        "memory.current": "4096",
        "pids.current": "2",
        "cpuset.cpus.effective": "0-1",
        "cpuset.mems.effective": "0",
    }.items():
        (new / name).write_text(f"{text}\n")
    hierarchy.set_weight(group, 2048)
    hierarchy.set_memory(group, 1 << 30)
    assert (old / "cpu.shares").read_text() == "2048"
    assert hierarchy.read_back(group) == Placement(
        frozenset({0, 1}), 2048, 1 << 30, nodes=frozenset({0})
    )
    assert hierarchy.stats(group) == DomainStats(1500, 4096, 2)
    assert group.sampled() == {"cpu": old, "cpuacct": old, "unified": new}


def test_a_unified_tree_without_controllers_is_used_for_pressure(tmp_path: Path) -> None:
    proc = hybrid(tmp_path)
    old, new = tmp_path / "cpu,cpuacct", tmp_path / "unified"
    (new / "cgroup.controllers").write_text("\n")
    (new / "cgroup.subtree_control").write_text("\n")
    assert isinstance(find_hierarchy(proc), V1), "this kernel does not account for pressure"
    (tmp_path / "pressure").mkdir()
    hierarchy = find_hierarchy(proc)
    assert isinstance(hierarchy, Mixed)
    assert set(map(str, hierarchy.missing())) == {"pin", "memory", "disk"}
    ledger = Ledger("bare", tmp_path / "ledger")
    group = hierarchy.make(ledger, "db.1")
    above = [tree / "tierlab-bare.trial" for tree in (old, new)]
    assert group.entrances() == [folder / "db.1" for folder in above]
    listed = {entry.what["path"] for entry in ledger.account().entries}
    assert listed == {str(folder) for at in above for folder in (at, at / "db.1")}
    (old / "tierlab-bare.trial/db.1/cpuacct.usage").write_text("1500\n")
    (new / "tierlab-bare.trial/db.1/cpu.stat").write_text("usage_usec 9\n")
    (new / "tierlab-bare.trial/db.1/cgroup.controllers").write_text("\n")
    assert hierarchy.stats(group) == DomainStats(1500, None, None)
    assert set(group.sampled()) == {"cpu", "cpuacct", "unified"}


def test_the_sampler_gets_version_2s_one_folder_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu io\n")
    assert Group({"cpu": tmp_path, "io": tmp_path}).sampled() == {"unified": tmp_path}


def test_a_group_that_is_gone_has_no_processes(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").write_text("7\n3\n")
    assert Group({"cpu": tmp_path, "io": tmp_path / "gone"}).pids() == [3, 7]


def unified(tmp_path: Path) -> Path:
    """A version 2 root as files: what the kernel would answer must be written by the test."""
    root = tmp_path / "unified"
    root.mkdir(exist_ok=True)
    (root / "cgroup.controllers").write_text("cpuset cpu memory hugetlb pids\n")
    (root / "cgroup.subtree_control").write_text("cpu memory pids\n")
    return root


def test_a_group_of_others_may_have_limits_on_several_disks(tmp_path: Path) -> None:
    """A container that runs already: the first disk's are told."""
    root = unified(tmp_path)
    (root / "io.max").write_text("8:0 rbps=max wbps=1000 riops=20 wiops=max\n8:16 wbps=max\n")
    assert V2(root).disk_limits(Group({"io": root})) == (1000, 20)
    (root / "io.max").write_text("")
    assert V2(root).disk_limits(Group({"io": root})) == (None, None)


def test_version_2_lends_what_a_containers_runtime_would_enable_and_takes_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = unified(tmp_path)
    ledger = Ledger("trial-1", tmp_path / "ledger")
    listed_at_write: list[tuple[str, set[str]]] = []

    def write(path: Path, value: str) -> None:
        assert path == root / "cgroup.subtree_control"
        if value == "+cpuset":
            raise UserError("refused")
        entries = ledger.account().entries
        listed_at_write.append((value, {str(entry.what["controller"]) for entry in entries}))

    monkeypatch.setattr(cgroup_v2, "write", write)
    V2(root).hand_down_all(ledger)
    assert listed_at_write == [("+hugetlb", {"hugetlb"})]
    (outcome,) = remove_all(ledger.account(), 1.0)
    assert outcome.done
    assert (root / "cgroup.subtree_control").read_text() == "-hugetlb"
    ledger.close()


def test_version_2_lends_a_controller_and_the_last_trial_takes_it_back(tmp_path: Path) -> None:
    root = unified(tmp_path)
    hierarchy = V2(root)
    control = root / "cgroup.subtree_control"
    first, second = Ledger("first", tmp_path / "ledger"), Ledger("second", tmp_path / "ledger")
    hierarchy.prepare(first, ("cpu", "cpuset"))
    assert control.read_text() == "+cpuset"
    control.write_text("cpu memory pids cpuset\n")  # as the kernel then says
    hierarchy.prepare(second, ("cpu", "cpuset"))
    for ledger in (first, second):
        assert [entry.what["controller"] for entry in ledger.account().entries] == ["cpuset"]

    (root / "tierlab-second").mkdir()
    control.write_text("cpu memory pids cpuset\n")
    assert [outcome.done for outcome in remove_all(first.account(), 0)] == [True]
    assert control.read_text() == "cpu memory pids cpuset\n"
    (root / "tierlab-second").rmdir()
    assert [outcome.done for outcome in remove_all(second.account(), 0)] == [True]
    assert control.read_text() == "-cpuset"


@pytest.mark.parametrize(
    ("number", "done", "said"),
    [(errno.EBUSY, True, "others use it now"), (errno.EACCES, False, "Permission denied")],
)
def test_a_controller_that_others_use_by_then_is_left_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, done: bool, said: str
) -> None:
    """A container was started meanwhile, or a unit with Delegate=yes: a good trial had failed."""
    root = unified(tmp_path)
    ledger = Ledger("trial-1", tmp_path / "ledger")
    V2(root).prepare(ledger, ("cpuset",))
    control, write = root / "cgroup.subtree_control", Path.write_text

    def refused(path: Path, *given: str, **named: str) -> int:
        if path == control:
            raise OSError(number, os.strerror(number))
        return write(path, *given, **named)

    monkeypatch.setattr(Path, "write_text", refused)
    (outcome,) = remove_all(ledger.account(), 0)
    assert outcome.done is done
    assert said in str(outcome.note)


def test_version_2_reads_back_what_the_kernel_says(tmp_path: Path) -> None:
    folder = tmp_path / "db.1"
    folder.mkdir()
    for name, text in {
        "cpuset.cpus": "",
        "cpuset.cpus.effective": "0-1,3",
        "cpuset.mems.effective": "0-1",
        "cpu.weight": "100",
        "memory.max": "max",
        "cpu.stat": "usage_usec 1500\nuser_usec 1000\n",
        "memory.current": "4096",
        "pids.current": "2",
    }.items():
        (folder / name).write_text(f"{text}\n")
    group = Group(dict.fromkeys(("cpuset", "cpu", "memory", "pids"), folder))
    hierarchy = V2(tmp_path)
    placed = Placement(frozenset({0, 1, 3}), 3072, nodes=frozenset({0, 1}))
    assert hierarchy.read_back(group) == replace(placed, weight=1024)
    assert hierarchy.stats(group).cpu_ns == 1_500_000
    hierarchy.set_weight(group, 3072)
    assert (folder / "cpu.weight").read_text() == "300"
    hierarchy.set_memory(group, 1 << 30)
    assert hierarchy.read_back(group) == replace(placed, memory=1 << 30)


def test_memory_nodes_that_differ_are_a_difference() -> None:
    asked = Placement(nodes=frozenset({1}))
    assert asked.difference(Placement(nodes=frozenset({1}))) is None
    assert asked.difference(Placement(nodes=frozenset({0, 1}))) == (
        "memory nodes 1 asked, 0,1 found"
    )


def test_another_host_is_a_difference() -> None:
    asked = Placement(host="second", weight=512)
    assert asked.difference(replace(asked)) is None
    assert asked.difference(replace(asked, host="first")) == "host second asked, first found"


def test_rounding_is_no_difference_but_a_step_is() -> None:
    asked = Placement(frozenset({0}), 1000, (64 << 20) + 1)
    assert asked.difference(Placement(frozenset({0}), 1004, 64 << 20)) is None
    assert asked.difference(Placement(frozenset({0}), 1014, 64 << 20)) == (
        "weight 1000 asked, 1014 found"
    )
    assert asked.difference(Placement(frozenset({0, 1}), 1000, 64 << 20)) == (
        "PUs 0 asked, 0,1 found"
    )
    assert asked.difference(Placement(frozenset({0}), 1000, None)) is not None


def test_a_folder_that_cannot_be_made_is_one_sentence_and_not_in_the_ledger(
    tmp_path: Path,
) -> None:
    root = unified(tmp_path)
    (root / "cgroup.subtree_control").write_text("cpuset cpu memory pids\n")
    (root / "tierlab-one.trial").write_text("in the way")
    ledger = Ledger("one", tmp_path / "ledger")
    with pytest.raises(UserError, match="cannot make the control group"):
        V2(root).make(ledger, "db.1")
    assert ledger.account().entries == ()
