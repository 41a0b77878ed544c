"""One machine, numbered by Linux, by Xen and by libvirt."""

from __future__ import annotations

import pytest

from tierlab.errors import UserError
from tierlab.machine import topology
from tierlab.machine.numbering import of_libvirt, of_topology, of_xl, translation

LINUX = "pack:2 numa:1 core:4 pu:1(indexes=0,2,4,6,1,3,5,7)"
XL = """host                   : there
nr_cpus                : 8
cpu_topology           :
cpu:    core    socket     node
  0:       0        0        0
  1:       1        0        0
  2:       2        0        0
  3:       3        0        0
  4:       0        1        1
  5:       1        1        1
  6:       2        1        1
  7:       3        1        1
numa_info              :
node:    memsize    memfree    distances
   0:      1024        700      10,20
"""
CAPABILITIES = """<capabilities><host><topology><cells num='2'>
<cell id='0'><cpus num='2'><cpu id='0' socket_id='0' core_id='0' siblings='0'/>
<cpu id='2' socket_id='0' core_id='4' siblings='2'/></cpus></cell>
<cell id='1'><cpus num='2'><cpu id='1' socket_id='36' core_id='0' siblings='1'/>
<cpu id='3' socket_id='36' core_id='4' siblings='3'/></cpus></cell>
</cells></topology></host></capabilities>"""


def test_xen_numbers_package_by_package_where_linux_alternates() -> None:
    linux = of_topology(topology.read(LINUX))

    to_xen = translation(linux, of_xl(XL))

    assert [to_xen[pu] for pu in (0, 2, 4, 6)] == [0, 1, 2, 3]
    assert [to_xen[pu] for pu in (1, 3, 5, 7)] == [4, 5, 6, 7]


def test_libvirt_s_ids_need_not_be_linux_ranks() -> None:
    linux = of_topology(topology.read("pack:2 numa:1 core:2 pu:1(indexes=0,2,1,3)"))

    assert translation(linux, of_libvirt(CAPABILITIES)) == {0: 0, 1: 1, 2: 2, 3: 3}


def test_siblings_of_a_core_keep_their_order() -> None:
    linux = of_topology(topology.read("pack:1 core:2 pu:2(indexes=0,2,1,3)"))
    packed = of_topology(topology.read("pack:1 core:2 pu:2"))

    assert translation(linux, packed) == {0: 0, 2: 1, 1: 2, 3: 3}


def test_two_different_machines_are_refused() -> None:
    other = of_topology(topology.read("pack:1 core:8 pu:1"))

    with pytest.raises(UserError, match=r"\[4, 4\] to the one and \[8\] to the other"):
        translation(of_topology(topology.read(LINUX)), other)


@pytest.mark.parametrize("text", ["", "cpu_topology :\ncpu: core socket node\n", "host : x"])
def test_output_without_pus_is_a_clear_sentence(text: str) -> None:
    with pytest.raises(UserError, match="xl info --numa told of no PU"):
        of_xl(text)
