"""What libvirt's own in-memory hypervisor makes of a guest's description: no guest is booted."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tierlab.environments.domain import Topology
from tierlab.environments.guests.words import link
from tierlab.environments.images.image import Image
from tierlab.environments.qemu.xml import Guest, document, elsewhere
from tierlab.machine.programs import locate

pytestmark = pytest.mark.skipif(locate("virsh") is None, reason="needs libvirt-clients")

PLAIN = Guest(
    name="db.1",
    identity="tierlab-x-1-db.1",
    image=Image(Path("/image")),
    accelerated=False,
    memory=1 << 30,
    shared=Path("/trial/db.1"),
    socket=Path("/run/db.1.agent"),
    console=Path("/trial/db.1.console"),
    monitor=Path("/trial/db.1.monitor"),
    token="a token",
)
RICH = replace(
    PLAIN,
    vcpus=4,
    topology=Topology(sockets=2, numa=True),
    link=link("10.0.4.1"),
    disk=Path("/trial/db.1.disk"),
)


def told(described: str, folder: Path, *commands: str) -> str:
    """What the hypervisor `test:///default` says to them of the guest, once it runs."""
    file = folder / "guest.xml"
    begun = ET.fromstring(described)
    begun.set("type", "test")
    file.write_text(ET.tostring(begun, encoding="unicode"))
    script = "; ".join([f"create {file}", *commands])
    done = subprocess.run(
        ["virsh", "--quiet", "--connect", "test:///default", script],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def as_it_runs(described: str, folder: Path, *commands: str) -> ET.Element:
    name = ET.fromstring(described).findtext("name")
    return ET.fromstring(told(described, folder, *commands, f"dumpxml {name}"))


@pytest.mark.parametrize("guest", [PLAIN, RICH], ids=["plain", "rich"])
def test_libvirt_keeps_all_that_is_described(guest: Guest, tmp_path: Path) -> None:
    described = document(guest, restored=False)
    found, asked = as_it_runs(described, tmp_path), ET.fromstring(described)
    for what in ("os", "cpu", "devices/disk", "devices/filesystem", "devices/interface"):
        pairs = zip(found.iterfind(what), asked.iterfind(what), strict=True)
        for kept, wanted in pairs:
            assert flat(wanted) <= flat(kept) | sizes(wanted), what
    assert found.findtext("vcpu") == str(guest.vcpus)
    assert int(found.findtext("memory") or 0) << 10 == guest.memory
    nodes = found.findall("cpu/numa/cell")
    each = [(node.get("cpus"), int(node.get("memory", "")) << 10) for node in nodes]
    half = guest.memory // 2
    assert each == ([("0-1", half), ("2-3", half)] if guest.topology.numa else [])


def flat(element: ET.Element) -> set[tuple[str, str | None, str]]:
    """Every word of it: by tag, the attribute or None for its text, and the value."""
    found: set[tuple[str, str | None, str]] = set()
    for each in element.iter():
        found |= {(each.tag, name, value) for name, value in each.attrib.items()}
        if each.text and each.text.strip():
            found.add((each.tag, None, each.text))
    return found


def sizes(element: ET.Element) -> set[tuple[str, str | None, str]]:
    """Those that libvirt writes in another unit, or in another way."""
    return {word for word in flat(element) if word[1] in ("memory", "unit", "cpus")}


def test_memory_given_back_is_what_the_description_says_then(tmp_path: Path) -> None:
    command = f"setmem {PLAIN.identity} {256 << 10} --live"
    assert as_it_runs(document(PLAIN, restored=False), tmp_path, command).findtext(
        "currentMemory"
    ) == str(256 << 10)


def test_elsewhere_only_the_ports_name_differs(tmp_path: Path) -> None:
    here = document(RICH, restored=False)
    found, before = (as_it_runs(each, tmp_path) for each in (elsewhere(here, "db.1-1"), here))
    assert flat(found) - flat(before) - {("uuid", None, found.findtext("uuid") or "")} == {
        ("target", "dev", "db.1-1")
    }


def test_it_is_a_judge_that_refuses(tmp_path: Path) -> None:
    impossible = document(RICH, restored=False).replace('bus="virtio"', 'bus="omnibus"')
    with pytest.raises(AssertionError, match="omnibus"):
        told(impossible, tmp_path)


def test_guests_of_one_shape_differ_in_what_they_are_told_alone() -> None:
    other = replace(
        RICH,
        name="app.1",
        identity="tierlab-y-1-app.1",
        image=Image(Path("/same/elsewhere")),
        shared=Path("/y/app.1"),
        socket=Path("/run/app.1.agent"),
        console=Path("/y/app.1.console"),
        monitor=Path("/y/app.1.monitor"),
        token="another token",
        link=link("10.0.2.1"),
        disk=Path("/y/app.1.disk"),
    )
    assert other.shape() == RICH.shape()


@pytest.mark.parametrize(
    "change",
    [
        {"memory": 2 << 30},
        {"vcpus": 2},
        {"topology": Topology(sockets=2)},
        {"link": None},
        {"disk": None},
        {"accelerated": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_guest_of_another_shape_is_not_restored_from_it(change: dict[str, Any]) -> None:
    assert replace(RICH, **change).shape() != RICH.shape()
