"""A guest as libvirt wants it described.

Source: https://libvirt.org/formatdomain.html. The kernel is loaded by the hypervisor itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree as ET

from tierlab.environments.domain import Topology
from tierlab.environments.guests.words import CHANNEL, KERNEL_WORDS, SHARE, Link
from tierlab.environments.identity import TOKEN
from tierlab.environments.images.image import Image

EMULATOR = "/usr/bin/qemu-system-x86_64"
NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0"
"""Of what only QEMU has."""

ET.register_namespace("qemu", NAMESPACE)


@dataclass(frozen=True)
class Guest:
    """A virtual machine to be."""

    name: str
    """The domain's, such as ``db.1``."""
    identity: str
    """What libvirt calls it."""
    image: Image
    accelerated: bool
    """By KVM; otherwise emulated."""
    memory: int
    """Bytes."""
    shared: Path
    """A folder that the guest may mount: its own, or where files wait that go there."""
    socket: Path
    """Where the hypervisor is to listen for who talks to the guest's agent, as libvirt sees it."""
    console: Path
    """The file for what the kernel says."""
    monitor: Path
    """Where the hypervisor is to listen for who keeps or restores its state."""
    token: str
    """The ledger's: in the hypervisor's environment."""
    vcpus: int = 1
    topology: Topology = field(default_factory=Topology)
    link: Link | None = None
    disk: Path | None = None
    """An ext4 file system of the guest's own."""
    plugin: str | None = None
    """QEMU's argument for a plugin that looks on."""

    def shape(self) -> str:
        """All that a guest restored from another's snapshot has to have in common with that.

        Its hardware address is told to the guest: see configure.sh.
        """
        nobody = Path("guest")
        alike = replace(
            self,
            name="guest",
            identity="guest",
            token="guest",
            image=Image(nobody),
            shared=nobody,
            socket=nobody,
            console=nobody,
            monitor=nobody,
            link=self.link and replace(self.link, address="", mac=""),
            disk=self.disk and nobody,
            plugin=None,
        )
        return document(alike, restored=False)


def document(guest: Guest, *, restored: bool) -> str:
    """Write its XML document; one that is restored waits for its state."""
    domain = ET.Element("domain", type="kvm" if guest.accelerated else "qemu")
    _text(domain, "name", guest.identity)
    _text(domain, "memory", str(guest.memory), unit="b")
    _text(domain, "vcpu", str(guest.vcpus))
    boot = ET.SubElement(domain, "os")
    _text(boot, "type", "hvm", arch="x86_64", machine="pc")
    _text(boot, "kernel", str(guest.image.kernel))
    _text(boot, "initrd", str(guest.image.initramfs))
    _text(boot, "cmdline", " ".join(("console=ttyS0", *KERNEL_WORDS)))
    features = ET.SubElement(domain, "features")
    ET.SubElement(features, "acpi")
    ET.SubElement(features, "apic")
    _add_processor(domain, guest)
    for event in ("on_poweroff", "on_reboot", "on_crash"):
        _text(domain, event, "destroy")
    _add_devices(domain, guest)
    _add_particulars(domain, guest, restored=restored)
    return ET.tostring(domain, encoding="unicode")


def elsewhere(document: str, port: str) -> str:
    """The description of a running guest as another host is to have it, with that port's name."""
    domain = ET.fromstring(document)
    for target in domain.iterfind("devices/interface/target"):
        target.set("dev", port)
    return ET.tostring(domain, encoding="unicode")


def _add_processor(domain: ET.Element, guest: Guest) -> None:
    mode = "host-passthrough" if guest.accelerated else "maximum"
    processor = ET.SubElement(domain, "cpu", mode=mode)
    cores = guest.vcpus // guest.topology.sockets
    ET.SubElement(
        processor, "topology", sockets=str(guest.topology.sockets), cores=str(cores), threads="1"
    )
    if guest.topology.numa:
        numa = ET.SubElement(processor, "numa")
        for node in range(guest.topology.sockets):
            mine = range(node * cores, (node + 1) * cores)
            ET.SubElement(
                numa,
                "cell",
                id=str(node),
                cpus=",".join(map(str, mine)),
                memory=str(guest.memory // guest.topology.sockets),
                unit="b",
            )


def _add_devices(domain: ET.Element, guest: Guest) -> None:
    devices = ET.SubElement(domain, "devices")
    _text(devices, "emulator", EMULATOR)
    root = _disk(devices, guest.image.root, "vda", {"cache": "writeback"})
    ET.SubElement(root, "readonly")
    ET.SubElement(root, "shareable")
    if guest.disk is not None:
        _disk(devices, guest.disk, "vdb", {"cache": "none", "io": "native"})
    share = ET.SubElement(devices, "filesystem", type="mount", accessmode="passthrough")
    ET.SubElement(share, "source", dir=str(guest.shared))
    ET.SubElement(share, "target", dir=SHARE)
    if guest.link is not None:
        network = ET.SubElement(devices, "interface", type="bridge")
        ET.SubElement(network, "mac", address=guest.link.mac)
        ET.SubElement(network, "source", bridge=guest.link.bridge)
        ET.SubElement(network, "target", dev=guest.name)
        ET.SubElement(network, "model", type="virtio")
        ET.SubElement(network, "driver", name="qemu")
    channel = ET.SubElement(devices, "channel", type="unix")
    ET.SubElement(channel, "source", mode="bind", path=str(guest.socket))
    ET.SubElement(channel, "target", type="virtio", name=CHANNEL)
    console = ET.SubElement(devices, "serial", type="file")
    ET.SubElement(console, "source", path=str(guest.console), append="on")
    random = ET.SubElement(devices, "rng", model="virtio")
    _text(random, "backend", "/dev/urandom", model="random")
    ET.SubElement(devices, "memballoon", model="virtio")


def _add_particulars(domain: ET.Element, guest: Guest, *, restored: bool) -> None:
    """What libvirt has no words for."""
    command = ET.SubElement(domain, f"{{{NAMESPACE}}}commandline")
    arguments = ["-qmp", f"unix:{guest.monitor},server=on,wait=off"]
    if guest.plugin is not None:
        arguments += ["-plugin", guest.plugin]
    if restored:
        arguments += ["-incoming", "defer"]
    for argument in arguments:
        ET.SubElement(command, f"{{{NAMESPACE}}}arg", value=argument)
    ET.SubElement(command, f"{{{NAMESPACE}}}env", name=TOKEN, value=guest.token)


def _disk(devices: ET.Element, file: Path, name: str, driver: Mapping[str, str]) -> ET.Element:
    disk = ET.SubElement(devices, "disk", type="file", device="disk")
    ET.SubElement(disk, "driver", {"name": "qemu", "type": "raw", **driver})
    ET.SubElement(disk, "source", file=str(file))
    ET.SubElement(disk, "target", dev=name, bus="virtio")
    return disk


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    ET.SubElement(parent, tag, attributes).text = text
