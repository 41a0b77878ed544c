"""What a guest's first program (guest_init.sh) is told, on its kernel's command line.

The kernel hands parameters that it does not know to the first program, as environment variables:
Documentation/admin-guide/kernel-parameters.rst of the Linux kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tierlab.environments.addresses import BRIDGED
from tierlab.environments.network.bridge import gateway

CHANNEL = "tierlab.agent"
"""Name of the virtio port of the guest's agent. Under libvirt's own name for one (qemu's), libvirt
would hold its socket itself."""
SHARE = "folder"
"""Tag of the 9p share."""

KERNEL_WORDS = (
    *("quiet", "panic=-1"),
    *("random.trust_cpu=on", "mitigations=off", "ipv6.disable=1"),
)
"""Nobody waits for a guest that panicked."""


@dataclass(frozen=True)
class Link:
    """A guest's end of the trial's network."""

    bridge: str
    address: str
    """With the length of the network's prefix: ``10.0.4.1/16``."""
    gateway: str
    mac: str


def link(address: str) -> Link:
    """A guest's end at an address: its hardware address follows from it."""
    tier, number = (int(part) for part in address.split(".")[2:])
    return Link(
        bridge=BRIDGED.interface,
        address=f"{address}/{BRIDGED.servers.prefixlen}",
        gateway=gateway(BRIDGED),
        mac=f"52:54:00:00:{tier:02x}:{number:02x}",
    )


@dataclass(frozen=True)
class Told:
    """What the first program of one guest is told."""

    name: str
    console: str
    """Device that the kernel writes its messages to."""
    disks: str
    """What its disks are called, but for the last letter: ``vd``."""
    bus: str
    """By which the shared folder comes: ``virtio`` or ``xen``."""
    folder: Path
    """Shared with the guest, at the same path."""
    user: int
    """User id of the servers' programs."""
    disk_folders: Sequence[str] = ()
    """Which folders in `folder` lie on its second disk."""
    link: Link | None = None
    sysctls: Mapping[str, int] = field(default_factory=dict)

    def words(self) -> list[str]:
        """The kernel's command line."""
        words = [
            f"console={self.console}",
            *KERNEL_WORDS,
            *(f"sysctl.{name}={value}" for name, value in self.sysctls.items()),
            f"guest_name={self.name}",
            f"guest_disks={self.disks}",
            f"guest_bus={self.bus}",
            f"guest_folder={self.folder}",
            f"guest_user={self.user}",
            f"guest_disk={','.join(self.disk_folders)}",
        ]
        if self.link is not None:
            words += [f"guest_address={self.link.address}", f"guest_gateway={self.link.gateway}"]
        return words
