"""A domain of the LXC environment: a container made by libvirt, described in its XML.

Source: https://libvirt.org/drvlxc.html and https://libvirt.org/formatdomain.html.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

import psutil

from tierlab.environments.capability import Capability
from tierlab.environments.cgroups.cgroup import Group, trial_group
from tierlab.environments.containers.entered_domain import INIT, EnteredDomain, shared_memory_size
from tierlab.environments.containers.overlay_root import OverlayRoot
from tierlab.environments.containers.probe import locate
from tierlab.environments.daemons.libvirt import LibvirtDaemon
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.placement import Placement

KIB = 1024

_DOMAIN = """\
<domain type="lxc">
  <name>{name}</name>
  <memory unit="b">{memory}</memory>
  <resource><partition>/{partition}</partition></resource>
  <os>
    <type>exe</type>
    <init>{init}</init>
    <initarg>{argument}</initarg>
  </os>
  <features><capabilities policy="deny"/></features>
  <devices>
    <filesystem type="mount"><source dir="{root}"/><target dir="/"/></filesystem>
    <filesystem type="ram">
      <source usage="{shared}" units="b"/><target dir="/dev/shm"/>
    </filesystem>
    <filesystem type="ram"><source usage="64" units="KiB"/><target dir="{work}"/></filesystem>
    <filesystem type="mount"><source dir="{folder}"/><target dir="{folder}"/></filesystem>
    <console type="pty"/>
  </devices>
</domain>
"""
"""Without an interface the container stays in the daemon's network namespace, the trial's. The
second file system hides the domains' folders, which the root below shows, before the third brings
this one's back."""


class LxcDomain(EnteredDomain):
    """One container: namespaces, a root of its own over the host's, and a control group.

    Memory is limited through libvirt, which shows the container its limit; all else is set in the
    control group that it made. It writes a weight as it is, and version 2 counts otherwise.
    """

    def __init__(self, ground: Ground, spec: DomainSpec, daemon: LibvirtDaemon) -> None:
        super().__init__(ground, spec)
        self._daemon = daemon
        self._root = OverlayRoot(daemon, spec.name)
        self._size = psutil.virtual_memory().total // KIB * KIB

    def _make_group(self) -> Group:
        ledger, hierarchy = self._ground.ledger, self._ground.hierarchy
        assert hierarchy is not None  # the environment is refused without control groups
        self._root.mount()
        description = self._root.folder / "domain.xml"
        description.write_text(self._xml())
        self._virsh("create", str(description))
        self._keep(self._find_init())
        self._group = hierarchy.group(ledger.trial, self._group_name())
        hierarchy.complete(ledger, self._group)
        return self._group

    def _xml(self) -> str:
        init, argument = INIT
        words = {
            "name": self.spec.name,
            "memory": self._size,
            "partition": trial_group(self._ground.ledger.trial),
            "init": locate(init) or init,
            "argument": argument,
            "root": self._root.merged,
            "shared": shared_memory_size(),
            "work": self._ground.work,
            "folder": self.folder,
        }
        return _DOMAIN.format(**{key: escape(str(word)) for key, word in words.items()})

    def _find_init(self) -> int:
        """The one child of the domain's controller, whose process id is the domain's id."""
        controller = int(self._virsh("domid", self.spec.name))
        try:
            (init,) = psutil.Process(controller).children()
        except (psutil.NoSuchProcess, ValueError) as error:
            raise self._ended() from error
        return init.pid

    def _group_name(self) -> str:
        """What libvirt called the domain's group, in whatever tree; see proc_pid_cgroup(5)."""
        assert self._init is not None
        above = Path("/", trial_group(self._ground.ledger.trial))
        lines = Path(f"/proc/{self._init.pid}/cgroup").read_text().splitlines()
        places = [Path(line.split(":", 2)[2]) for line in lines]
        names = {place.name for place in places if place.parent == above}
        # It stays in the daemon's group in those trees that libvirt does not use.
        (name,) = names - {self._daemon.name}
        return name

    def set_memory(self, limit: int) -> None:
        """Limit its memory, in bytes."""
        self._controlled(Capability.MEMORY)
        self._virsh("memtune", self.spec.name, "--live", "--hard-limit", f"{limit // KIB}")

    def read_back(self) -> Placement:
        """Read the placement from the kernel; libvirt's limit of the whole memory is none."""
        found = super().read_back()
        return replace(found, memory=None) if found.memory == self._size else found

    def destroy(self) -> None:
        """Remove the container, and folder and control groups with it."""
        self.stop()
        if self._group is not None:
            self._remove_container()
        super().destroy()

    def _remove_container(self) -> None:
        names = self._virsh("list", "--name").split()
        if self.spec.name in names:
            self._virsh("destroy", self.spec.name)
        self._root.remove()

    def _virsh(self, *arguments: str) -> str:
        return self._daemon.virsh(*arguments, subject=self.spec.name)
