"""The hosts between which a trial's guests move: each a libvirt daemon, here all on this machine.

They have one control group, disk and bridge in common, as hosts with shared storage on one network
have; their folders, sockets and processes are their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.environments.daemons.libvirt import LibvirtDaemon
from tierlab.environments.native.host_domain import Ground
from tierlab.errors import UserError
from tierlab.machine.mapping import HOSTS


class Hosts:
    """The hosts of one trial. All but the first are there once somebody is to move."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._daemons: dict[str, LibvirtDaemon] = {HOSTS[0]: LibvirtDaemon(ground, "qemu")}

    def open(self) -> None:
        """Have them all."""
        for name in HOSTS:
            if name not in self._daemons:
                self._daemons[name] = LibvirtDaemon(self._ground, "qemu", f"libvirt-{name}")

    @property
    def daemons(self) -> Mapping[str, LibvirtDaemon]:
        """Those that are there now, by name."""
        return self._daemons

    def daemon(self, name: str) -> LibvirtDaemon:
        """The daemon of a host; `UserError` if there is no such host."""
        if name not in self._daemons:
            raise UserError(
                f"there is no host '{name}' here; choose among {', '.join(self._daemons)}."
            )
        return self._daemons[name]
