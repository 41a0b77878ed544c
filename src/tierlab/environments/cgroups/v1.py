"""Version 1 of the control groups: controllers mounted one by one, or some of them together.

Source: Documentation/admin-guide/cgroup-v1 of the Linux kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierlab.environments.cgroups.cgroup import Files, Group, Versioned, number, read, write
from tierlab.environments.domain import DomainStats
from tierlab.environments.ledger import Ledger

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "blkio", "pids")

WRITES, READS = "blkio.throttle.write_bps_device", "blkio.throttle.read_iops_device"


class V1(Versioned):
    """One tree a controller (or a few controllers)."""

    files = Files(
        "cpuset.effective_cpus", "cpuset.effective_mems", "cpu.shares", 1.0, "memory.limit_in_bytes"
    )

    def __init__(self, mounts: Mapping[str, Path]) -> None:
        self._mounts = mounts

    def controllers(self) -> Mapping[str, Path]:
        """Where each is mounted."""
        return self._mounts

    def prepare(self, ledger: Ledger, needed: tuple[str, ...]) -> None:
        """Nothing: groups can be made at any place of these trees."""

    def hand_down_all(self, ledger: Ledger) -> None:
        """Nothing, for the same reason."""

    def settle(self, folder: Path, controllers: list[str]) -> None:
        """A new cpuset is empty and admits nobody: give it what the group above has."""
        if "cpuset" in controllers:
            for name in ("cpuset.cpus", "cpuset.mems"):
                write(folder / name, read(folder.parent / name))

    def before_nodes(self, group: Group) -> None:
        """cpuset.memory_migrate, off at first."""
        write(group.folders["cpuset"] / "cpuset.memory_migrate", "1")

    def set_disk(self, group: Group, device: str, writes: int | None, reads: int | None) -> None:
        """blkio.throttle; writes that the kernel does later on its own account are not in it."""
        for name, limit in ((WRITES, writes), (READS, reads)):
            if limit is not None:
                write(group.folders["blkio"] / name, f"{device} {limit}")

    def disk_limits(self, group: Group) -> tuple[int | None, int | None]:
        """Of the first device that has some."""
        found = [read(group.folders["blkio"] / name).split() for name in (WRITES, READS)]
        writes, reads = (int(fields[1]) if fields else None for fields in found)
        return writes, reads

    def stats(self, group: Group) -> DomainStats:
        """cpuacct.usage, memory.usage_in_bytes, pids.current."""
        folders = group.folders
        return DomainStats(
            cpu_ns=number(folders.get("cpuacct"), "cpuacct.usage"),
            memory_bytes=number(folders.get("memory"), "memory.usage_in_bytes"),
            processes=number(folders.get("pids"), "pids.current"),
        )
