"""How TCP treats a connection request that gets no answer: as today, or as it used to.

RFC 1122 had the first SYN sent again after 3 s, and each wait twice the one before: clients retry
after 3, 9 and 21 s. RFC 6298 made it 1 s; Linux has it since 3.1, and since 6.5 sends the first
five retries a second apart. SYN cookies, too, make of a full queue something else: the handshake
goes on and the data is sent again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from tierlab.environments.cgroups.cgroup import CONTROLLERS_FILE, Hierarchy
from tierlab.environments.ledger import Ledger
from tierlab.environments.network import sockops

AGENTS = "agents"
"""Name of their group."""


@dataclass(frozen=True)
class Tcp:
    """One behaviour: sysctls of the network namespace, and how long a SYN waits at first."""

    sysctls: Mapping[str, int] = field(default_factory=dict)
    syn_timeout_s: int | None = None
    """None leaves it to the kernel."""


BEHAVIOURS: Mapping[str, Tcp] = MappingProxyType(
    {
        "modern": Tcp(),
        "classic": Tcp(
            {"net.ipv4.tcp_syn_linear_timeouts": 0, "net.ipv4.tcp_syncookies": 0}, syn_timeout_s=3
        ),
    }
)
"""By the name that an experiment file has for it."""


def known_sysctls(tcp: Tcp) -> dict[str, int]:
    """Those that this kernel has: without linear timeouts there are none to switch off."""
    return {
        name: value
        for name, value in tcp.sysctls.items()
        if Path("/proc/sys", *name.split(".")).exists()
    }


def set_syn_timeout(hierarchy: Hierarchy, ledger: Ledger, seconds: int) -> Path:
    """Have the whole trial wait so long; return the group that its agents are to be started in.

    The domains' groups are beside it, below the trial's, which has the program.
    """
    group = hierarchy.make(ledger, AGENTS).sampled()["unified"]
    sockops.set_syn_timeout(group.parent, seconds)
    return group


def obstacle(hierarchy: Hierarchy | str) -> str | None:
    """Say why waits for a SYN's answer cannot be set with these control groups; None if they can.

    A string instead of a hierarchy says why there is none.
    """
    if isinstance(hierarchy, str):
        return hierarchy
    roots = hierarchy.controllers().values()
    if not any((root / CONTROLLERS_FILE).exists() for root in roots):
        return "no control groups of version 2 are mounted"
    return sockops.refusal()
