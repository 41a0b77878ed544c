"""The LXC environment: each server in a container made by libvirt's LXC driver.

As with podman the containers' root is this host's, seen through an overlay: a difference between
the environments is not another build's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tierlab.environments.capability import Probe
from tierlab.environments.containers.lxc_domain import LxcDomain
from tierlab.environments.containers.probe import probe_containers
from tierlab.environments.daemons import libvirt as libvirt_daemon
from tierlab.environments.daemons.libvirt import LibvirtDaemon
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.host_domain import Ground

DRIVER = "lxc"
PROGRAMS: Mapping[str, str] = {
    **libvirt_daemon.PROGRAMS,
    "catatonit": "catatonit",
}
"""Each with the Debian package that brings it."""

FUSE = Path("/dev/fuse")


class Lxc(HostEnvironment):
    """Containers on this host, for one trial, made by a libvirt daemon of its own."""

    name: ClassVar[str] = "lxc"

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; `UserError` if no container can be made."""
        return probe_containers(cls.name, PROGRAMS, _runtime_fault)

    def create(self, spec: DomainSpec) -> LxcDomain:
        """Make a domain: a folder now, a container when it starts."""
        return LxcDomain(self._ground, spec, self._daemon)

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        self._daemon = LibvirtDaemon(ground, DRIVER)
        return ground


def _runtime_fault() -> str | None:
    """What keeps libvirt from making containers; None if nothing does."""
    if libvirt_daemon.driver_file(DRIVER) is None:
        return "packages are missing: libvirt-daemon-driver-lxc"
    if not FUSE.exists():
        return f"{FUSE} is missing, by which libvirt shows a container its own memory"
    return None
