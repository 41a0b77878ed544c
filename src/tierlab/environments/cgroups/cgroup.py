"""Control groups of a trial: ``tierlab-<trial>.trial/<domain>`` at each tree's root.

Versions 1 and 2 are behind one interface. A placement is written as asked and read back from the
kernel's own effective files.
"""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tierlab.environments.capability import Capability
from tierlab.environments.domain import DomainStats
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.machine.kernel_files import parse_list

DISK_CONTROLLERS = frozenset({"blkio", "io"})
"""What version 1 and version 2 call it."""
CONTROLLERS_FILE = "cgroup.controllers"
GONE = (errno.ENOENT, errno.ENODEV)
"""What the kernel says of a group that is removed before or while it is read."""
UNLIMITED = 1 << 62
"""Version 1 shows "no memory limit" as a number near 2^63; version 2 says ``max``."""


@dataclass(frozen=True)
class Group:
    """The control group of one domain: its folder for each controller it has."""

    folders: Mapping[str, Path]

    def entrances(self) -> list[Path]:
        """The folders whose ``cgroup.procs`` a process must be written to, each once."""
        return list(dict.fromkeys(self.folders.values()))

    def trees(self) -> dict[Path, list[str]]:
        """The same by folder: the controllers that it has."""
        found: dict[Path, list[str]] = {}
        for controller, folder in self.folders.items():
            found.setdefault(folder, []).append(controller)
        return found

    def pids(self) -> list[int]:
        """List the processes in the group; none are in a folder that is gone."""
        found: set[int] = set()
        for folder in self.entrances():
            try:
                pids = read(folder / "cgroup.procs")
            except OSError as error:
                if error.errno not in GONE:
                    raise
                continue
            found.update(map(int, pids.split()))
        return sorted(found)

    def sampled(self) -> dict[str, Path]:
        """Folders as the agent's sampler wants them: version 1's by controller, 2's as `unified`.

        Only version 2 has ``cgroup.controllers`` in its folders. The sampler reads there what
        version 1 does not account for, pressure at the least.
        """
        new = {name: at for name, at in self.folders.items() if (at / CONTROLLERS_FILE).exists()}
        old = {name: at for name, at in self.folders.items() if name not in new}
        if new:
            old["unified"] = next(iter(new.values()))
        return old


def trial_group(trial: str) -> str:
    """What a trial's group is called, at the root of each tree.

    The dot keeps libvirt from adding a suffix of its own.
    """
    return f"tierlab-{trial}.trial"


class Hierarchy(ABC):
    """The control groups of this machine."""

    @abstractmethod
    def controllers(self) -> Mapping[str, Path]:
        """Root folder of each controller that can be used."""

    @abstractmethod
    def settle(self, folder: Path, controllers: list[str]) -> None:
        """Fit out a folder just made so that processes (or groups below) may use it."""

    @abstractmethod
    def pin(self, group: Group, pus: str) -> None:
        """Restrict to PUs, in the kernel's list format."""

    @abstractmethod
    def set_nodes(self, group: Group, nodes: str) -> None:
        """Keep memory on NUMA nodes, in the kernel's list format."""

    @abstractmethod
    def set_weight(self, group: Group, weight: int) -> None:
        """Set the CPU weight; 1024 is the usual."""

    @abstractmethod
    def set_memory(self, group: Group, limit: int) -> None:
        """Limit memory, in bytes."""

    @abstractmethod
    def set_disk(self, group: Group, device: str, writes: int | None, reads: int | None) -> None:
        """Limit bytes written to a device and read operations, each a second, if given."""

    @abstractmethod
    def read_back(self, group: Group) -> Placement:
        """Read the placement in force."""

    @abstractmethod
    def stats(self, group: Group) -> DomainStats:
        """Read what was used."""

    @abstractmethod
    def prepare(self, ledger: Ledger, needed: tuple[str, ...]) -> None:
        """Change at the root what must be changed before groups can be made."""

    @abstractmethod
    def hand_down_all(self, ledger: Ledger) -> None:
        """Hand down, in the ledger, what a container's runtime would enable by itself and leave."""

    def missing(self) -> dict[Capability, str]:
        """Say which capabilities want a controller that this machine does not offer."""
        have = self.controllers()
        wanted = {
            Capability.PIN: {"cpuset"},
            Capability.WEIGHT: {"cpu"},
            Capability.MEMORY: {"memory"},
            Capability.DISK: DISK_CONTROLLERS,
        }
        return {
            capability: f"no {' or '.join(sorted(names))} controller may be used by this user"
            for capability, names in wanted.items()
            if not have.keys() & names
        }

    def make(self, ledger: Ledger, name: str) -> Group:
        """Make group `name` of the trial, each folder in the ledger first."""
        self.make_trial(ledger)
        group = self.group(ledger.trial, name)
        self.complete(ledger, group)
        return group

    def complete(self, ledger: Ledger, group: Group) -> None:
        """Make the folders of a group that are not there."""
        for folder, controllers in group.trees().items():
            if not folder.exists():
                self._make_folder(ledger, folder, controllers)

    def make_trial(self, ledger: Ledger) -> None:
        """Make the trial's own group in every tree, unless it is there."""
        self.prepare(ledger, tuple(self.controllers()))
        for folder, controllers in Group(self.controllers()).trees().items():
            above = folder / trial_group(ledger.trial)
            if not above.exists():
                self._make_folder(ledger, above, controllers)

    def group(self, trial: str, name: str) -> Group:
        """Group `name` of a trial, made or not."""
        return Group(
            {
                controller: root / trial_group(trial) / name
                for controller, root in self.controllers().items()
            }
        )

    def _make_folder(self, ledger: Ledger, folder: Path, controllers: list[str]) -> None:
        entry = ledger.add("cgroup", path=str(folder))
        try:
            folder.mkdir()
        except OSError as error:
            ledger.strike(entry)
            raise UserError(
                f"{folder}: cannot make the control group ({error.strerror});"
                " 'tierlab doctor' says what this machine allows."
            ) from error
        ledger.amend(entry, inode=folder.stat().st_ino)
        self.settle(folder, controllers)


@dataclass(frozen=True)
class Files:
    """What a version calls the files of a group's placement."""

    effective_pus: str
    effective_nodes: str
    weight: str
    weight_unit: float
    """What 1 is in that file, where 1024 is the usual weight."""
    memory_limit: str


class Versioned(Hierarchy):
    """The hierarchy of one version: the versions differ in names and units."""

    files: ClassVar[Files]

    def pin(self, group: Group, pus: str) -> None:
        """cpuset.cpus, in both versions."""
        write(group.folders["cpuset"] / "cpuset.cpus", pus)

    def set_nodes(self, group: Group, nodes: str) -> None:
        """cpuset.mems, in both versions."""
        self.before_nodes(group)
        write(group.folders["cpuset"] / "cpuset.mems", nodes)

    def before_nodes(self, group: Group) -> None:
        """Have the kernel move what is in memory already; version 2 does so by itself."""

    def set_weight(self, group: Group, weight: int) -> None:
        """In the version's unit."""
        scaled = round(weight / self.files.weight_unit)
        write(group.folders["cpu"] / self.files.weight, str(scaled))

    def set_memory(self, group: Group, limit: int) -> None:
        """In bytes, in both versions."""
        write(group.folders["memory"] / self.files.memory_limit, str(limit))

    @abstractmethod
    def disk_limits(self, group: Group) -> tuple[int | None, int | None]:
        """Read the limits that `set_disk` sets; the group has its controller."""

    def read_back(self, group: Group) -> Placement:
        """Effective PUs, the weight, and the limits if there are any."""
        folders, files = group.folders, self.files
        pus = nodes = weight = memory = None
        disk: tuple[int | None, int | None] = (None, None)
        if "cpuset" in folders:
            pus = frozenset(parse_list(read(folders["cpuset"] / files.effective_pus)))
            nodes = frozenset(parse_list(read(folders["cpuset"] / files.effective_nodes)))
        if "cpu" in folders:
            weight = round(int(read(folders["cpu"] / files.weight)) * files.weight_unit)
        if "memory" in folders:
            limit = read(folders["memory"] / files.memory_limit)
            memory = None if limit == "max" or int(limit) >= UNLIMITED else int(limit)
        if folders.keys() & DISK_CONTROLLERS:
            disk = self.disk_limits(group)
        return Placement(pus, weight, memory, *disk, nodes)


def read(path: Path) -> str:
    """Read a control file."""
    return path.read_text().strip()


def number(folder: Path | None, name: str) -> int | None:
    """Read a number; None without the controller's folder."""
    return None if folder is None else int(read(folder / name))


def write(path: Path, value: str) -> None:
    """Write a control file; `UserError` if the kernel refuses the value."""
    try:
        path.write_text(value)
    except OSError as error:
        raise UserError(
            f"{path}: the kernel refuses '{value}' ({error.strerror});"
            " choose PUs, weight and memory that this machine has."
        ) from error
