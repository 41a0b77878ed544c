"""Topology: of made-up machines, of saved ones, and of this one against lscpu."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierlab.errors import UserError
from tierlab.machine import topology
from tierlab.machine.hwloc import pus_at
from tierlab.machine.kernel_files import parse_list
from tierlab.machine.topology import PU, Cache

IN_TURN = "pack:2 numa:1 l3:1 core:2 pu:1(indexes=0,2,1,3)"
"""As many two-socket servers number: even PUs on the first package, odd ones on the second."""


def test_two_packages_numbered_in_turn() -> None:
    found = topology.read(IN_TURN)

    assert found.pus == (
        PU(0, core=0, package=0, l3=0, node=0),
        PU(2, core=1, package=0, l3=0, node=0),
        PU(1, core=2, package=1, l3=1, node=1),
        PU(3, core=3, package=1, l3=1, node=1),
    )
    assert found.caches == (Cache("L3", 16 << 20, 2),)
    assert list(found.nodes) == [0, 1]


def test_a_saved_machine_is_the_machine(tmp_path: Path) -> None:
    saved = tmp_path / "there.xml"
    subprocess.run(["lstopo-no-graphics", "-i", IN_TURN, saved], check=True)

    assert topology.read(str(saved)) == topology.read(IN_TURN)


def test_more_than_32_pus_are_all_found() -> None:
    found = topology.read("pack:4 core:20 pu:2")

    assert sorted(found.by_number) == list(range(160))
    assert len({pu.core for pu in found.pus}) == 80


def test_what_the_machine_does_not_say_is_none() -> None:
    assert topology.read("pu:2").pus[0] == PU(0, core=None, package=None, l3=None, node=0)


def test_of_two_nodes_at_a_pu_the_nearer_one_counts(tmp_path: Path) -> None:
    """Memory that is near to the whole machine, as an expander's, beside each package's own."""
    saved = tmp_path / "expanded.xml"
    subprocess.run(["lstopo-no-graphics", "-i", IN_TURN, saved], check=True)
    expander = (
        '<object type="NUMANode" os_index="2" cpuset="0x0000000f" complete_cpuset="0x0000000f"'
        ' nodeset="0x00000004" complete_nodeset="0x00000004" gp_index="99" local_memory="4096"/>'
    )
    text = saved.read_text()
    machine, package = text.index('<object type="Machine"'), text.index('<object type="Package"')
    root = text[machine:package].replace("0x00000003", "0x00000007")
    saved.write_text(text[:machine] + root + expander + text[package:])

    found = topology.read(str(saved))

    assert sorted(found.nodes) == [0, 1, 2]
    assert {pu.pu: pu.node for pu in found.pus} == {0: 0, 2: 0, 1: 1, 3: 1}


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("package:0.core:0-1", (0, 2)),
        ("package:1", (1, 3)),
        ("numanode:1.core:1", (3,)),
        ("l3:0", (0, 2)),
        ("pu:1", (2,)),
    ],
)
def test_locations_are_the_machine_s_shape_whatever_the_numbers(
    location: str, expected: tuple[int, ...]
) -> None:
    assert pus_at(location, IN_TURN) == expected


@pytest.mark.parametrize(
    "location", ["package:2", "shelf:0", "core:1-9", "core:0 core:1", "-h", ""]
)
def test_no_place_on_the_machine_is_one_clear_sentence(location: str) -> None:
    with pytest.raises(UserError, match=r"is no place on machine .*say it in hwloc's words"):
        pus_at(location, IN_TURN)


def test_what_hwloc_says_of_odd_firmware_is_no_complaint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints a banner unless it is told not to, and answers as ever."""
    calc = tmp_path / "hwloc-calc"
    banner = "* hwloc received invalid information from the operating system."
    calc.write_text(f'#!/bin/sh\n[ "$HWLOC_HIDE_ERRORS" = 2 ] || echo "{banner}" >&2\necho 1,3\n')
    calc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert pus_at("package:1", "pack:2 core:2 pu:1(indexes=0,2,1,3)") == (1, 3)


@pytest.mark.parametrize("source", ["shelf:3", "there-is-none.xml"])
def test_no_machine_is_one_clear_sentence(source: str) -> None:
    with pytest.raises(UserError, match=f"^machine '{source}'"):
        topology.read(source)


@given(st.sets(st.integers(0, 300)))
def test_lists_are_read_as_the_kernel_writes_them(numbers: set[int]) -> None:
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)

    assert parse_list(f"{text}\n") == tuple(sorted(numbers))


def test_this_machine_as_lscpu_sees_it() -> None:
    said = subprocess.run(
        ["lscpu", "--parse=CPU,CORE,SOCKET,NODE"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(",") for line in said.splitlines() if not line.startswith("#")]
    found = topology.read().pus

    assert sorted(pu.pu for pu in found) == [int(row[0]) for row in rows]
    assert len({(pu.package, pu.core) for pu in found}) == len({row[1] for row in rows})
    assert len({pu.package for pu in found}) == len({row[2] for row in rows})
    nodes = {pu.pu: pu.node for pu in found}
    assert nodes == {int(row[0]): int(row[3]) if row[3] else None for row in rows}


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

    assert {c.name: (c.size, c.instances) for c in topology.read().caches} == expected
