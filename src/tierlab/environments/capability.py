"""What an environment may be able to do, and what one can do on this host.

What it cannot do it declares by name with the reason (`Probe.cannot`); asking for it all the same
is a `UserError`, never a silent no-op.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tierlab.machine.hwloc import HOST


class Capability(StrEnum):
    """What an environment may be able to do on this host."""

    NETWORK = "network"
    """A network of the trial's own: its TCP counters, ports and sysctls are nobody else's."""
    ACCOUNTING = "accounting"
    """CPU time and memory per domain, from the kernel."""
    PIN = "pin"
    WEIGHT = "weight"
    MEMORY = "memory"
    DISK = "disk"
    """A limit on what a domain reads and writes."""
    MIGRATE = "migrate"
    UNPRIVILEGED = "unprivileged"
    """Servers run as a user without rights of its own (always so if the caller has none)."""
    RETRIES = "retries"
    """How long TCP waits before it sends a connection request again."""
    PROCESSES = "processes"
    """Servers' processes are this host's: they are seen and reached from outside their domain."""
    MOVE_MEMORY = "move-memory"
    """The memory of a running domain can be moved to other NUMA nodes."""
    VCPUS = "vcpus"
    """A domain has virtual CPUs of its own, as many as asked."""
    MESSAGES = "messages"
    """All messages between servers pass one interface of this host's."""
    NEIGHBOURS = "neighbours"
    """Domains that only compute can be put beside the system's."""
    STEAL = "steal"
    """A hypervisor gives a server's CPU time to another domain, and the server's kernel is told."""
    SIMULATED_CACHES = "simulated-caches"
    """Cache misses of what runs in a domain can be simulated."""


@dataclass(frozen=True)
class Probe:
    """What an environment can do on this host, why it cannot do the rest, and what there is."""

    environment: str
    can: frozenset[Capability]
    cannot: Mapping[Capability, str]
    pus: frozenset[int]
    """Processing units that are online, by the operating system's numbers."""
    memory: int
    """Bytes."""
    nodes: frozenset[int]
    """NUMA nodes, by the operating system's numbers."""
    machine: str = HOST
    """Whose PUs and nodes these are, as a source of hwloc's (see `tierlab.machine.hwloc`)."""
    packages: frozenset[str] | None = None
    """Debian packages that a domain's own root has; None where it is this host's, or not known."""
