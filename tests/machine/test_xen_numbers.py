"""hwloc's words by Xen's numbers: never Linux's, which may go another way round."""

from __future__ import annotations

import pytest

from tierlab.errors import UserError
from tierlab.machine.hwloc import pus_at
from tierlab.machine.topology import read
from tierlab.machine.xen_numbers import described

HEAD = """\
host                   : xen
nr_cpus                : 8
cpu_topology           :
cpu:    core    socket     node
"""
TAIL = """\
device topology        :
device           node
No device topology data available
numa_info              :
node:    memsize    memfree    distances
   0:      3072       2946      10,20
   1:      3072       2364      20,10
xen_major              : 4
"""

BY_LINUX = "pack:2 numa:1 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)"
"""The same machine as Linux often numbers it: the packages in turn."""


def told(rows: list[tuple[int, int, int]]) -> str:
    """What xl says of PUs with these cores, sockets and nodes."""
    lines = (f"{pu:3}:{row[0]:8}{row[1]:9}{row[2]:9}\n" for pu, row in enumerate(rows))
    return HEAD + "".join(lines) + TAIL


def test_a_package_is_the_same_cores_by_other_numbers() -> None:
    by_xen = described(told([(core, package, package) for package in (0, 1) for core in range(4)]))
    assert pus_at("package:0.core:0-3", by_xen) == (0, 1, 2, 3)
    assert pus_at("package:0.core:0-3", BY_LINUX) == (0, 2, 4, 6)
    assert pus_at("numanode:1", by_xen) == (4, 5, 6, 7)
    assert set(read(by_xen).nodes) == {0, 1}


def test_siblings_are_one_core() -> None:
    rows = [(core, package, package) for _ in "ab" for package in (0, 1) for core in (0, 1)]
    shape = read(described(told(rows)))
    assert shape.cores([0, 4, 1]) == [0, 1]
    assert [(pu.package, pu.core, pu.node) for pu in shape.pus if pu.pu in (3, 7)] == [
        (1, 3, 1)
    ] * 2


def test_nodes_keep_their_numbers() -> None:
    shape = read(described(told([(0, 0, 1), (1, 0, 1), (0, 1, 0), (1, 1, 0)])))
    assert [pu.node for pu in shape.pus] == [1, 1, 0, 0]
    one = read(described(told([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])))
    assert {pu.node for pu in one.pus} == {0}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "no machine"),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 1)], "alike"),
        ([(0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3)], "nodes"),
    ],
    ids=["nothing", "a core is off", "four nodes in two packages"],
)
def test_what_hwloc_cannot_describe_is_one_sentence(
    rows: list[tuple[int, int, int]], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        described(told(rows))
