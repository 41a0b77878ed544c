"""What guests and those who start them call alike: kernel parameters, ports, addresses."""

from __future__ import annotations

from dataclasses import dataclass

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
