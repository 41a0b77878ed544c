"""The machine that Xen is booted on where there is none: emulated, with two sockets.

Two sockets of two cores, each a memory node, whatever this machine has. QEMU loads Xen, and with it
the kernel and first file system of domain 0, by the multiboot protocol; domain 0 boots like any
guest. For each domain to be the machine has a `Seat`.

Source: qemu-system-x86_64(1); Xen's parameters: docs/misc/xen-command-line.pandoc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tierlab.environments.guests.words import CHANNEL, KERNEL_WORDS, SHARE
from tierlab.environments.images.image import Image

EMULATOR = "qemu-system-x86_64"
SOCKETS, CORES = 2, 2
DESCRIPTION = "pack:2 numa:1(indexes=0,1) core:2 pu:1(indexes=0,1,2,3)"
"""What Xen is to find, for hwloc."""
NEAR = {node: frozenset(range(node * CORES, (node + 1) * CORES)) for node in range(SOCKETS)}
"""The PUs of each memory node, by Xen's numbers."""
NODES, PUS = frozenset(NEAR), frozenset[int]().union(*NEAR.values())
MEMORY, DOMAIN_0_MEMORY, XEN_MEMORY = 6 << 30, 1 << 30, 256 << 20
"""Bytes; the last is what Xen has for itself, at most."""
SEATS = 8

XEN_WORDS = (
    *("console=com1", "com1=115200,8n1", "bootscrub=0", "noreboot"),
    *("spec-ctrl=no,eager-fpu=yes", "xpti=no", "numa=on", "sched=credit2"),
    *("dom0_max_vcpus=1", f"dom0_mem={DOMAIN_0_MEMORY >> 20}M,max:{DOMAIN_0_MEMORY >> 20}M"),
)
"""An emulated processor speculates about nothing. QEMU's of version 7.2 does not tell Xen when a
domain uses vector registers for the first time in its turn (exception #NM), as Xen otherwise goes
by: the domain would compute with another's. Domain 0 with one vCPU boots in a third of the
time: several would wait for one another, and an emulated PU that waits takes a real one's time."""


@dataclass(frozen=True)
class Seat:
    """What the machine has for one domain: a port to its agent, a wire and a disk."""

    number: int
    """From 1."""
    folder: Path
    """Of this host's files."""

    @property
    def socket(self) -> Path:
        """Where QEMU listens for who talks through the port."""
        return self.folder / f"seat{self.number}.agent"

    @property
    def port(self) -> str:
        """The port's name in domain 0."""
        return f"tierlab.seat{self.number}"

    @property
    def wire(self) -> str:
        """This end of the wire, a port of the trial's bridge; of the same name is what domain 0
        joins the other end to the domain's with.
        """
        return f"wire{self.number}"

    @property
    def mac(self) -> str:
        """Of domain 0's end."""
        return f"52:54:00:ff:00:{self.number:02x}"

    @property
    def disk(self) -> Path:
        """The file behind the disk."""
        return self.folder / f"seat{self.number}.disk"

    @property
    def device(self) -> str:
        """The disk in domain 0, after that of the root."""
        return f"/dev/vd{chr(ord('a') + self.number)}"


ROOT_DEVICE = "/dev/vda"


@dataclass(frozen=True)
class XenMachine:
    """The machine, as files of this host."""

    image: Image
    shared: Path
    """A folder that domain 0 has at the same path, with those of all domains in it."""
    folder: Path
    """In it: for sockets, disks and the console."""

    @property
    def socket(self) -> Path:
        """Where QEMU listens for who talks to domain 0's agent."""
        return self.folder / "host.agent"

    @property
    def console(self) -> Path:
        """What Xen and domain 0's kernel say."""
        return self.folder / "console.log"

    @property
    def hotplug(self) -> Path:
        """The script that joins a domain's devices to what is behind them."""
        return self.folder / "hotplug"

    @property
    def seats(self) -> list[Seat]:
        """All of them."""
        return [Seat(number, self.folder) for number in range(1, SEATS + 1)]

    @property
    def monitor(self) -> Path:
        """Where QEMU listens for who keeps or restores its state."""
        return self.folder / "host.monitor"

    def shape(self) -> str:
        """All that a machine restored from another's snapshot has in common with that."""
        return " ".join(replace(self, shared=Path("shared"), folder=Path("folder")).command())

    def command(self, *, restored: bool = False) -> list[str]:
        """The command that runs it, in the image's folder; one restored waits for its state."""
        kernel = " ".join((self.image.bare_kernel.name, "console=hvc0", *KERNEL_WORDS))
        return [
            *(EMULATOR, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            # Xen does not boot with these of the most that QEMU emulates.
            *("-machine", "pc", "-accel", "tcg,thread=multi", "-cpu", "max,-smap,-smep"),
            *_shape(),
            *("-kernel", self.image.hypervisor.name, "-append", " ".join(XEN_WORDS)),
            *("-initrd", f"{kernel},{self.image.initramfs.name}"),
            *("-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"),
            *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
            *_port("agent", self.socket, CHANNEL),
            *("-fsdev", f"local,id=share,path={self.shared},security_model=passthrough"),
            *("-device", f"virtio-9p-pci,fsdev=share,mount_tag={SHARE}"),
            *_disk("root", Path(self.image.root.name), "readonly=on"),
            *(word for seat in self.seats for word in _seat(seat)),
            *("-qmp", f"unix:{self.monitor},server=on,wait=off"),
            *(("-incoming", "defer") if restored else ()),
        ]


def _shape() -> Iterator[str]:
    yield from ("-smp", f"{len(PUS)},sockets={SOCKETS},cores={CORES},threads=1")
    yield from ("-m", f"{MEMORY >> 20}M")
    for node, pus in NEAR.items():
        size = f"{MEMORY // SOCKETS >> 20}M"
        yield from ("-object", f"memory-backend-ram,id=node{node},size={size}")
        cpus = f"cpus={min(pus)}-{max(pus)}"
        yield from ("-numa", f"node,nodeid={node},{cpus},memdev=node{node}")


def _seat(seat: Seat) -> Iterator[str]:
    name = f"seat{seat.number}"
    yield from _port(name, seat.socket, seat.port)
    yield from _disk(name, seat.disk, "cache=none,aio=native")
    yield from ("-netdev", f"tap,id={name}.net,ifname={seat.wire},script=no,downscript=no")
    yield from ("-device", f"virtio-net-pci,netdev={name}.net,mac={seat.mac},romfile=")


def _port(name: str, socket: Path, called: str) -> Iterator[str]:
    yield from ("-chardev", f"socket,id={name}.port,path={socket},server=on,wait=off")
    yield from ("-device", f"virtserialport,chardev={name}.port,name={called}")


def _disk(name: str, file: Path, option: str) -> Iterator[str]:
    yield from ("-drive", f"if=none,id={name}.disk,file={file},format=raw,{option}")
    yield from ("-device", f"virtio-blk-pci,drive={name}.disk")
