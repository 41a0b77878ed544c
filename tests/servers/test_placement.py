"""A placement that the environment cannot do is refused before anything is built or started."""

from __future__ import annotations

from typing import Any

import pytest

from tierlab import experiment
from tierlab.deploy.placement import check_changes, check_placements, vcpus
from tierlab.environments.capability import Capability, Probe
from tierlab.errors import UserError
from tierlab.experiment.change import Change
from tierlab.machine.hwloc import HOST

CANNOT = {
    Capability.PIN: "there is no cpuset",
    Capability.WEIGHT: "there is no cpu",
    Capability.MEMORY: "control groups need root",
}
MACHINE: dict[str, Any] = {"pus": frozenset({0, 1}), "memory": 8 << 30, "nodes": frozenset({0})}
PROBE = Probe("native", frozenset(), CANNOT, **MACHINE)
ABLE = Probe("native", frozenset(CANNOT), {Capability.VCPUS: "it has the host's"}, **MACHINE)
GUESTS = Probe("qemu", frozenset(Capability), {}, **MACHINE)


def shape(**tiers: Any) -> experiment.System:
    return experiment.System.of({"workload": "rubbos", **tiers})


@pytest.mark.parametrize(
    ("tiers", "sentence"),
    [
        (
            {"db": {"memory": "1GiB"}},
            "system.db.memory: the native environment cannot limit memory here, because control"
            " groups need root; do without it, or see in 'tierlab doctor' what this machine lacks.",
        ),
        ({"web": {"mapping": {"pus": [0]}}}, "system.web.mapping.pus: .* cannot place servers"),
        ({"place": "pu:0"}, "system.place: .* cannot place servers"),
        ({"lb": {"mapping": {"weight": 512}}}, "system.lb.mapping.weight: .* weight the CPU"),
    ],
)
def test_the_key_and_the_reason_are_named(tiers: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        check_placements(shape(**tiers), PROBE)


def test_what_can_be_done_or_is_not_asked_for_is_let_through() -> None:
    check_placements(shape(), PROBE)
    check_placements(shape(db={"memory": "8GiB", "mapping": {"pus": [0], "weight": 512}}), ABLE)


@pytest.mark.parametrize(
    ("tiers", "sentence"),
    [
        (
            {"app": {"mapping": {"pus": [1, 2, 7]}}},
            r"system\.app\.mapping\.pus: this machine has no PU 2,7; choose among 0,1\.",
        ),
        (
            {"app": {"mapping": {"memory_node": 3}}},
            r"system\.app\.mapping\.memory_node: this machine has no NUMA node 3; choose among 0",
        ),
        (
            {"app": {"mapping": {"place": "package:7"}}},
            r"system\.app\.mapping\.place: 'package:7' is no place on machine 'host'",
        ),
        (
            {"app": {"mapping": {"vcpus": 2}}},
            r"system\.app\.mapping\.vcpus: a server of the native environment has no vCPUs",
        ),
        ({"mapping": "two-packages"}, r"system\.mapping: .*this machine has one package"),
        (
            {"db": {"memory": "9GiB"}},
            r"system\.db\.memory: 9,216 MiB are more than the 8,192 MiB that this machine has",
        ),
    ],
)
def test_what_this_machine_does_not_have_is_refused(tiers: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        check_placements(shape(**tiers), ABLE)


def test_guests_have_as_many_vcpus_as_are_asked_or_as_they_have_pus() -> None:
    asked = shape(
        web={"mapping": {"vcpus": 3}},
        app={"mapping": {"pus": [0, 1]}},
        lb={"mapping": {"place": "pu:0", "vcpus": 2}},
    )
    check_placements(asked, GUESTS)
    assert vcpus(asked, HOST) == {"web.1": 3, "app.1": 2, "lb.1": 2, "db.1": None}


def test_a_guest_has_its_memory_in_whole_mib() -> None:
    """It was rounded as it booted, and read back as another than was asked."""
    asked = shape(db={"memory": "1GB"})
    change = Change.model_validate({"at": "1s", "on": "db.1", "memory": "1GB"})
    check_placements(asked, ABLE)
    check_changes([change], ABLE)
    check_placements(shape(db={"memory": "953MiB"}), GUESTS)
    said = r'1,000,000,000 bytes are no whole MiB, and a server of the qemu .*; say "953MiB"\.$'
    with pytest.raises(UserError, match=rf"^system\.db\.memory: {said}"):
        check_placements(asked, GUESTS)
    with pytest.raises(UserError, match=rf"^change of db\.1: memory: {said}"):
        check_changes([change], GUESTS)
