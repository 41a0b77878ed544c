"""Which control groups this machine has, and whether this user may use them."""

from __future__ import annotations

import os
from pathlib import Path

from tierlab.environments.cgroups import v1 as cgroup_v1
from tierlab.environments.cgroups.bare import Bare
from tierlab.environments.cgroups.cgroup import Hierarchy
from tierlab.environments.cgroups.mixed import Mixed
from tierlab.environments.cgroups.v1 import V1
from tierlab.environments.cgroups.v2 import V2
from tierlab.machine.control_groups import hierarchies, occupied, owners


def find_hierarchy(proc: Path = Path("/proc")) -> Hierarchy | str:
    """Find the control groups that may be used; else the reason why none can.

    A machine may have some controllers the old way and some in the unified tree: each is used
    where it is, as the doctor tries it. A unified tree that is left without any joins them for its
    accounts of pressure.
    """
    first: dict[str, Path] = {}
    unified: Path | None = None
    reasons: list[str] = []
    for controller, mounted in owners(proc).items():
        reason = _refused(mounted.root) or occupied(mounted.root)
        if reason is not None:
            reasons.append(reason)
        elif mounted.version == 2:
            unified = mounted.root
        elif controller in cgroup_v1.CONTROLLERS:
            first[controller] = mounted.root
    parts: list[Hierarchy] = [] if unified is None else [V2(unified)]
    if first:
        parts.insert(0, V1(first))
    parts = [part for part in parts if part.controllers()]
    # It may have controllers that nobody here uses (hugetlb); that is as good as none.
    if parts and not any(isinstance(part, V2) for part in parts):
        parts += [Bare(root) for root in _bare(proc)][:1]
    if not parts:
        return reasons[0] if reasons else "no controller of the control groups is mounted"
    return parts[0] if len(parts) == 1 else Mixed(parts)


def _bare(proc: Path) -> list[Path]:
    """Unified trees that may be used, if this kernel accounts for pressure."""
    if not (proc / "pressure").is_dir():
        return []
    return [
        tree.root for tree in hierarchies(proc) if tree.version == 2 and not _refused(tree.root)
    ]


def _refused(root: Path) -> str | None:
    """Why this user may make no groups there; None if it may."""
    if os.statvfs(root).f_flag & os.ST_RDONLY:
        return f"the control groups at {root} are mounted read-only"
    return None if os.access(root, os.W_OK) else f"this user may not write to {root}"
