"""Topology: from made trees of the kernel's files, and of this machine against lscpu and nproc."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierlab.machine import topology
from tierlab.machine.topology import PU, Cache


def made(system: Path, pus: list[PU], online: str) -> Path:
    """The kernel's files for these PUs, each with an L1d of its own and an L3 it shares."""

    def put(path: str, text: object) -> None:
        file = system / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    put("cpu/online", online)
    for pu in pus:
        folder = f"cpu/cpu{pu.pu}"
        put(f"{folder}/topology/core_id", pu.core)
        put(f"{folder}/topology/physical_package_id", pu.package)
        sharing = ",".join(str(other.pu) for other in pus if other.l3 == pu.l3)
        for index, (level, kind, size, shared) in enumerate(
            [(1, "Data", "32K", str(pu.pu)), (3, "Unified", "8192K", sharing)]
        ):
            for name, text in {
                "level": level,
                "type": kind,
                "size": size,
                "shared_cpu_list": shared,
            }.items():
                put(f"{folder}/cache/index{index}/{name}", text)
        (system / folder / f"node{pu.node}").mkdir()
    put("node/online", "0-1")
    return system


def test_two_packages_numbered_in_turn(tmp_path: Path) -> None:
    """As many two-socket servers do it: even PUs on the first package, odd ones on the second."""
    pus = [PU(n, core=n // 2, package=n % 2, l3=n % 2, node=n % 2) for n in range(4)]
    system = made(tmp_path, pus, "0-3")

    assert topology.pus(system) == tuple(pus)
    assert topology.caches(system) == (Cache("L1d", 32 << 10, 4), Cache("L3", 8192 << 10, 2))
    assert topology.nodes(system) == (0, 1)


def test_a_pu_that_is_offline_is_left_out(tmp_path: Path) -> None:
    pus = [PU(n, core=n, package=0, l3=0, node=0) for n in range(4)]
    system = made(tmp_path, pus, "0,2-3")

    assert [pu.pu for pu in topology.pus(system)] == [0, 2, 3]


def test_what_the_kernel_does_not_say_is_none(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu/online").write_text("0\n")

    assert topology.pus(tmp_path) == (PU(0, None, None, None, None),)
    assert topology.caches(tmp_path) == ()
    assert topology.nodes(tmp_path) == ()


@given(st.sets(st.integers(0, 300)))
def test_lists_are_read_as_the_kernel_writes_them(numbers: set[int]) -> None:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)

    assert topology.parse_list(f"{text}\n") == tuple(sorted(numbers))


def test_this_machine_as_lscpu_sees_it() -> None:
    said = subprocess.run(
        ["lscpu", "--parse=CPU,CORE,SOCKET,NODE"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(",") for line in said.splitlines() if not line.startswith("#")]
    found = topology.pus()

    assert [pu.pu for pu in found] == [int(row[0]) for row in rows]
    assert len({(pu.package, pu.core) for pu in found}) == len({row[1] for row in rows})
    assert len({pu.package for pu in found}) == len({row[2] for row in rows})
    assert [pu.node for pu in found] == [int(row[3]) if row[3] else None for row in rows]


def test_this_machines_caches_as_lscpu_sees_them() -> None:
    done = subprocess.run(
        ["lscpu", "--bytes", "--caches=NAME,ALL-SIZE,ONE-SIZE"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    if not rows:
        pytest.skip("lscpu shows no caches on this machine")
    expected = {name: (int(one), int(total) // int(one)) for name, total, one in rows}

    assert {c.name: (c.size, c.instances) for c in topology.caches()} == expected
