"""Where the control group controllers are mounted, version 1 and version 2 side by side.

Kernel documentation: admin-guide/cgroup-v1 and admin-guide/cgroup-v2.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierlab.machine.kernel_files import read_text

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "blkio", "io", "pids", "freezer", "devices")


@dataclass(frozen=True)
class Hierarchy:
    """A mounted hierarchy: its version, root folder and controllers."""

    version: int
    root: Path
    controllers: tuple[str, ...]


def hierarchies(proc: Path = Path("/proc")) -> tuple[Hierarchy, ...]:
    """Every hierarchy mounted here with at least one controller, or of version 2."""
    found: list[Hierarchy] = []
    for line in (read_text(proc / "mounts") or "").splitlines():
        _, target, kind, options, *_ = line.split()
        root = Path(target.replace("\\040", " "))
        if kind == "cgroup2":
            controllers = tuple((read_text(root / "cgroup.controllers") or "").split())
            found.append(Hierarchy(2, root, controllers))
        elif kind == "cgroup":
            controllers = tuple(name for name in CONTROLLERS if name in options.split(","))
            if controllers:
                found.append(Hierarchy(1, root, controllers))
    return tuple(found)


def roots(proc: Path = Path("/proc")) -> tuple[Path, ...]:
    """The root of every tree that is mounted here, those without a controller among them."""
    mounts = (line.split() for line in (read_text(proc / "mounts") or "").splitlines())
    return tuple(
        Path(target.replace("\\040", " "))
        for _, target, kind, *_ in mounts
        if kind in ("cgroup", "cgroup2")
    )


def owners(proc: Path = Path("/proc")) -> dict[str, Hierarchy]:
    """The hierarchy of each controller; version 1 where both would (it owns it then)."""
    found: dict[str, Hierarchy] = {}
    for hierarchy in sorted(hierarchies(proc), key=lambda h: h.version):
        for controller in hierarchy.controllers:
            found.setdefault(controller, hierarchy)
    return found


def occupied(root: Path) -> str | None:
    """Why the root of a tree cannot hand its controllers down; None if it can.

    In version 2 no group does that while it has processes in it, but for the true root, which alone
    has no ``cgroup.type``. A container's tree begins at a group of its own, with its processes.
    """
    if not (root / "cgroup.type").exists() or not read_text(root / "cgroup.procs"):
        return None
    return (
        f"{root} is a container's own group and has processes in it"
        " (start the container with --cgroupns=host)"
    )


def with_controller(controller: str, proc: Path = Path("/proc")) -> Hierarchy | None:
    """The hierarchy that has the controller, if any."""
    return owners(proc).get(controller)
