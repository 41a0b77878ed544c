"""The control group that a server has to itself which runs already: a service's or a container's.

Source: cgroups(7), "/proc/pid/cgroup".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from tierlab.environments.cgroups import v1 as cgroup_v1
from tierlab.environments.cgroups.bare import PRESSURE
from tierlab.environments.cgroups.cgroup import CONTROLLERS_FILE, Group
from tierlab.machine.control_groups import Hierarchy, hierarchies
from tierlab.machine.kernel_files import read_text


def own_group(pids: Collection[int], proc: Path = Path("/proc")) -> Group:
    """The group that all these processes are in, in each tree in which nobody else is in it but
    who has started them, or whom they have started. A group that is another server's too (one
    container for two, a user's session) tells of neither; nor does the root.
    """
    folders: dict[str, Path] = {}
    for tree in hierarchies(proc):
        folder = _common(tree, pids, proc)
        if folder is not None and _is_theirs(folder, pids):
            folders |= dict.fromkeys(_controllers(tree, folder), folder)
    return Group(folders)


def _common(tree: Hierarchy, pids: Collection[int], proc: Path) -> Path | None:
    """The folder of the one group below the tree's root that all of them are in."""
    paths = {_path(tree, pid, proc) for pid in pids}
    below = [path.lstrip("/") for path in paths if path is not None]
    return tree.root / below[0] if len(paths) == 1 and any(below) else None


def _path(tree: Hierarchy, pid: int, proc: Path) -> str | None:
    for line in (read_text(proc / f"{pid}" / "cgroup") or "").splitlines():
        number, controllers, path = line.split(":", 2)
        named = set(controllers.split(","))
        if number == "0" if tree.version == 2 else named & set(tree.controllers):
            return path
    return None


def _is_theirs(folder: Path, pids: Collection[int]) -> bool:
    """Whether it is there, all are in it, and the others are of their family."""
    inside = {int(each) for each in (read_text(folder / "cgroup.procs") or "").split()}
    if not inside or not inside.issuperset(pids):
        return False
    others = inside - set(pids)
    if not others:
        return True
    started = {each for pid in pids for each in _above(pid)}
    return all(each in started or not set(pids).isdisjoint(_above(each)) for each in others)


def _above(pid: int) -> Iterator[int]:
    """Who has started it, and who has started them; nobody where it has ended."""
    with suppress(psutil.Error):
        yield from (each.pid for each in psutil.Process(pid).parents())


def _controllers(tree: Hierarchy, folder: Path) -> tuple[str, ...]:
    """Those that account there; a group of the unified tree has accounts of pressure at least."""
    if tree.version == 1:
        return tuple(each for each in tree.controllers if each in cgroup_v1.CONTROLLERS)
    return tuple((read_text(folder / CONTROLLERS_FILE) or "").split()) or (PRESSURE,)
