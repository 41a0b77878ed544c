"""The environments that are held to the suite; a new one adds an entry to `ENVIRONMENTS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.environments.vcenter import vcenter
from tierlab.environments.capability import Capability
from tierlab.environments.containers.docker import Docker
from tierlab.environments.containers.lxc import Lxc
from tierlab.environments.containers.podman import Podman
from tierlab.environments.environment import Environment
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.native import Native
from tierlab.environments.qemu import environment as qemu
from tierlab.environments.qemu.environment import Qemu
from tierlab.environments.vsphere import environment as vsphere
from tierlab.environments.vsphere.environment import Vsphere
from tierlab.environments.xen import environment as xen
from tierlab.environments.xen.environment import Xen
from tierlab.errors import UserError

Ask = Callable[[], object] | None


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
    daemon: bool = False
    """Whether a daemon must start and end with it: one environment serves all tests."""
    memory: int = 64 << 20
    """A limit, in bytes, that leaves room for small programs."""
    window: float = 1.0
    """Seconds over which CPU time is compared: many times what it is counted in, and what the
    scheduler gives at once."""
    keeper: Callable[[Path], AbstractContextManager[Mapping[str, str]]] | None = None
    """What has to run first, and the environment variables by which it is found."""
    only_books: str | None = None
    """Why what was asked can be read back here, but not felt."""


HOSTS_KERNEL = frozenset(
    {Capability.MIGRATE, Capability.VCPUS, Capability.SIMULATED_CACHES, Capability.STEAL}
)
"""What domains on the host's own kernel lack."""

guests = partial(Entry, isolates=True, own_kernel=True, memory=256 << 20)
"""Of domains with a kernel of their own."""

ENVIRONMENTS = {
    "native": Entry(Native, HOSTS_KERNEL, isolates=False),
    "lxc": Entry(Lxc, HOSTS_KERNEL, isolates=True),
    "podman": Entry(Podman, HOSTS_KERNEL, isolates=True),
    "docker": Entry(Docker, HOSTS_KERNEL, isolates=True, daemon=True),
    "qemu": guests(Qemu, frozenset(qemu.NEVER), window=2.5),
    "xen": guests(Xen, frozenset(xen.NEVER), window=12.0),
    "vsphere": guests(
        Vsphere,
        frozenset(vsphere.NEVER),
        keeper=vcenter,
        only_books="vcsim has no hypervisor: it keeps the books of one, and makes CPU time up",
    ),
}


def require(environment: Environment, entry: Entry, wanted: Capability, ask: Ask) -> None:
    """Skip what is declared as lacking, after checking that it is refused with its reason.

    `ask` asks for it all the same; None for what nobody can ask for.
    """
    probe = environment.probe()
    if wanted in probe.can:
        return
    assert wanted in entry.lacks, f"undeclared: {probe.cannot[wanted]}"
    if ask is not None:
        with pytest.raises(UserError, match="cannot") as refusal:
            ask()
        assert probe.cannot[wanted] in str(refusal.value)
    pytest.skip(f"declared: cannot {wanted}")


def feel(entry: Entry) -> None:
    """Skip what comes next where there is no hypervisor to do it."""
    if entry.only_books is not None:
        pytest.skip(f"declared: {entry.only_books}")
