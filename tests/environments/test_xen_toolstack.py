"""What Xen's toolstack says, read; and what it is told of a domain."""

from __future__ import annotations

from pathlib import Path

from tierlab.environments.xen.toolstack import (
    Description,
    Kernel,
    looked,
    pin,
    placed,
    set_weight,
)
from tierlab.machine.mapping import Seats

SAID = """\
Name                                        ID   Mem VCPUs\tState\tTime(s)
Domain-0                                     0   768     1     r-----      45.8
db.1                                         3  1024     2     -b----      21.6

Name                                ID  VCPU   CPU State   Time(s) Affinity (Hard / Soft)
Domain-0                             0     0    3   r--      46.1  all / all
db.1                                 3     0    0   -b-      20.6  0-1,3 / 0-1
db.1                                 3     1    -   --p       1.0  2 / all

Cpupool Pool-0: ratelimit=1000us
Name                                ID Weight  Cap
Domain-0                             0    256    0
db.1                                 3    768    0

(XEN) 'u' pressed -> dumping numa info (now = 85586958656)
(XEN) NODE0 start->0 size->786432 free->492278
(XEN) Memory location of each domain:
(XEN) Domain 0 (total: 196608):
(XEN)     Node 0: 29450
(XEN)     Node 1: 167158
(XEN) Domain 3 (total: 262144):
(XEN)     Node 0: 0
(XEN)     Node 1: 262144
"""


def test_a_domain_is_seen_as_xen_has_it() -> None:
    seen = looked(SAID)["db.1"]
    assert seen.vcpus == (frozenset({0, 1, 3}), frozenset({2}))
    assert seen.running == (False, False)
    assert seen.weight == 3072
    assert seen.memory == 1 << 30
    assert seen.pages == {1: 262144}
    assert seen.cpu_ns == 21_600_000_000


def test_a_vcpu_that_may_run_anywhere_is_not_pinned() -> None:
    assert looked(SAID)["Domain-0"].vcpus == (None,)


def test_a_vcpu_that_waits_for_its_pu_wants_to_run() -> None:
    assert looked(SAID)["Domain-0"].running == (True,)
    assert looked(SAID.replace("-b-      20.6", "---      20.6"))["db.1"].running == (True, False)


def test_a_domain_that_is_being_made_is_not_seen_yet() -> None:
    made_since = SAID.replace("db.1                                 3    768    0\n", "")
    assert set(looked(made_since)) == {"Domain-0"}


def test_changes_are_in_xens_measure() -> None:
    assert set_weight("db.1", 3072) == "xl sched-credit2 -d db.1 -w 768"
    two = pin("db.1", [frozenset({2}), frozenset({0, 3})])
    assert two == "xl vcpu-pin db.1 0 2; xl vcpu-pin db.1 1 0,3"


def test_a_description_asks_for_what_is_needed_and_no_more() -> None:
    least = Description(
        kernel=Kernel("db.1", memory=512 << 20, vcpus=2, words=("console=hvc0", "quiet")),
        built_on=frozenset({2, 3}),
        folder=Path("/trial/db.1"),
        root="/dev/vda",
        hotplug=Path("/trial/.xen/hotplug"),
    )
    text = least.text()
    assert "memory = 512\n" in text
    assert "cpus = '2,3'\n" in text
    assert "cpus_soft = '2,3'\n" in text
    assert "cmdline = 'console=hvc0 quiet'\n" in text
    assert "access=ro" in text
    assert "xvdb" not in text
    assert "vif" not in text


def test_a_neighbour_is_placed_from_the_start_and_has_no_device() -> None:
    kernel = Kernel("neighbour.1", memory=192 << 20, vcpus=3, words=(), ramdisk="/trial/ramdisk")
    text = placed(kernel, Seats((2, 3, 2), weight=512))
    assert "cpus = ['2', '3', '2']\n" in text
    assert "cpu_weight = 128\n" in text
    assert "ramdisk = '/trial/ramdisk'\n" in text
    assert not {"disk", "vif", "p9"} & {line.partition(" ")[0] for line in text.splitlines()}
