"""Version 2 of the control groups: one unified tree, whose root hands controllers down.

Source: Documentation/admin-guide/cgroup-v2.rst of the Linux kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tierlab.environments.cgroups.cgroup import Files, Group, Versioned, number, read, write
from tierlab.environments.domain import DomainStats
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import WEIGHT_STEP
from tierlab.errors import UserError

CONTROLLERS = ("cpu", "cpuset", "memory", "io", "pids")


class V2(Versioned):
    """The unified tree."""

    files = Files(
        "cpuset.cpus.effective", "cpuset.mems.effective", "cpu.weight", WEIGHT_STEP, "memory.max"
    )

    def __init__(self, root: Path) -> None:
        self.root = root

    def controllers(self) -> Mapping[str, Path]:
        """Those that the root has, whether or not it hands them down yet."""
        have = read(self.root / "cgroup.controllers").split()
        return {name: self.root for name in CONTROLLERS if name in have}

    def prepare(self, ledger: Ledger, needed: tuple[str, ...]) -> None:
        """Have the root hand down its controllers; the last trial to need one takes that back."""
        control = self.root / "cgroup.subtree_control"
        enabled = read(control).split()
        path = str(self.root)
        own = [entry.what for entry in ledger.account().entries if entry.kind == "controller"]
        for controller in needed:
            what = {"path": path, "controller": controller}
            if what in own:
                continue
            if controller in enabled and not ledger.others_list("controller", **what):
                continue
            entry = ledger.add("controller", **what)
            try:
                write(control, f"+{controller}")
            except UserError:
                ledger.strike(entry)
                raise

    def hand_down_all(self, ledger: Ledger) -> None:
        """All that the root has: runc enables each on its way down.

        What the kernel refuses to Tierlab it refuses to runc too.
        """
        for controller in read(self.root / "cgroup.controllers").split():
            with suppress(UserError):
                self.prepare(ledger, (controller,))

    def settle(self, folder: Path, controllers: list[str]) -> None:
        """Hand controllers on from the trial's group to its domains' groups."""
        if folder.parent == self.root:
            control = folder / "cgroup.subtree_control"
            write(control, " ".join(f"+{name}" for name in controllers))

    def set_disk(self, group: Group, device: str, writes: int | None, reads: int | None) -> None:
        """io.max."""
        limits = {"wbps": writes, "riops": reads}
        given = " ".join(f"{key}={limit}" for key, limit in limits.items() if limit is not None)
        write(group.folders["io"] / "io.max", f"{device} {given}")

    def disk_limits(self, group: Group) -> tuple[int | None, int | None]:
        """Of the first device that has some."""
        first, *_ = read(group.folders["io"] / "io.max").splitlines() or [""]
        pairs = (field.split("=") for field in first.split()[1:])
        limits = {key: int(limit) for key, limit in pairs if limit != "max"}
        return limits.get("wbps"), limits.get("riops")

    def stats(self, group: Group) -> DomainStats:
        """cpu.stat's usage, memory.current, pids.current."""
        folder = next(iter(group.folders.values()))
        usage = dict(line.split() for line in read(folder / "cpu.stat").splitlines())
        return DomainStats(
            cpu_ns=int(usage["usage_usec"]) * 1000,
            memory_bytes=number(group.folders.get("memory"), "memory.current"),
            processes=number(group.folders.get("pids"), "pids.current"),
        )
