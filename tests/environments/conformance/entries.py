"""The environments that are held to the suite; a new one adds an entry to `ENVIRONMENTS`."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tierlab.environments import qemu, xen
from tierlab.environments.base import Capability, Environment
from tierlab.environments.host import HostEnvironment
from tierlab.environments.lxc import Lxc
from tierlab.environments.native import Native
from tierlab.environments.podman import Podman
from tierlab.environments.qemu import Qemu
from tierlab.environments.xen import Xen
from tierlab.errors import UserError


@dataclass(frozen=True)
class Entry:
    """How to make an environment, and what it may lack even on a host with everything."""

    make: type[HostEnvironment]
    lacks: frozenset[Capability]
    isolates: bool
    """Whether a server has files of its own, and no capability that it could get back."""
    own_kernel: bool = False
    """Whether a domain has a kernel, and so an address and a memory, of its own. It takes long to
    boot: one serves all tests."""
    memory: int = 64 << 20
    """A limit, in bytes, that leaves room for small programs."""
    window: float = 4.0
    """Seconds over which CPU time is compared: many times what it is counted in."""


HOSTS_KERNEL = frozenset({Capability.MIGRATE, Capability.VCPUS})
"""What domains on the host's own kernel lack."""

ENVIRONMENTS = {
    "native": Entry(Native, HOSTS_KERNEL, isolates=False),
    "lxc": Entry(Lxc, HOSTS_KERNEL, isolates=True),
    "podman": Entry(Podman, HOSTS_KERNEL, isolates=True),
    "qemu": Entry(Qemu, frozenset(qemu.NEVER), isolates=True, own_kernel=True, memory=256 << 20),
    "xen": Entry(
        Xen,
        frozenset(xen.NEVER),
        isolates=True,
        own_kernel=True,
        memory=256 << 20,
        window=12.0,
    ),
}


def require(environment: Environment, entry: Entry, wanted: Capability, ask: object) -> None:
    """Skip what is declared as lacking, after checking that it is refused with its reason."""
    probe = environment.probe()
    if wanted in probe.can:
        return
    assert wanted in entry.lacks, f"undeclared: {probe.cannot[wanted]}"
    assert callable(ask)
    with pytest.raises(UserError, match="cannot") as refusal:
        ask()
    assert probe.cannot[wanted] in str(refusal.value)
    pytest.skip(f"declared: cannot {wanted}")
