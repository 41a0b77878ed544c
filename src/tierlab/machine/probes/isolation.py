"""Can a trial have a network and control groups of its own, and the rights to make them?"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tierlab.machine.attempt import attempt
from tierlab.machine.check import Check, Verdict
from tierlab.machine.control_groups import occupied, with_controller
from tierlab.machine.kernel_calls import CLONE_NEWNET, unshare
from tierlab.machine.kernel_files import read_text

GROUP = "isolation"
OURS = "tierlab-doctor-"
"""Our control groups, each followed by the number of the process that made it."""
AS_ROOT = "run as root (sudo)"
SIOCSIFFLAGS = 0x8914
IFF_UP = 1
LIMITS = {
    "cpuset": ("cpuset.cpus", "cpuset.cpus"),
    "cpu": ("cpu.shares", "cpu.weight"),
    "memory": ("memory.limit_in_bytes", "memory.max"),
}
"""By controller: the file that places or limits, in version 1 and in version 2."""


def checks() -> Iterator[Check]:
    """Privilege, network namespace, control groups."""
    yield privilege()
    yield network_namespace()
    yield control_groups()


def privilege() -> Check:
    """Whether this process is root."""
    if os.geteuid() == 0:
        return Check(GROUP, "privilege", Verdict.WORKS, "root")
    return Check(
        GROUP,
        "privilege",
        Verdict.MISSING,
        f"user {os.geteuid()}, not root",
        "a network of the trial's own, placement and limits",
        AS_ROOT,
    )


def network_namespace() -> Check:
    """Make one, bring its loopback up, and connect over a tier's address in it."""
    failure = attempt(_talk_in_a_namespace)
    if failure is None:
        seen = "made one and connected over 127.0.1.1 in it"
        return Check(GROUP, "network namespace", Verdict.WORKS, seen)
    return Check(
        GROUP,
        "network namespace",
        Verdict.MISSING,
        failure,
        "TCP counters, ports and sysctls of the trial's own: other traffic is counted too",
        AS_ROOT,
    )


def _talk_in_a_namespace() -> None:
    unshare(CLONE_NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    with socket.create_server(("127.0.1.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=2).close()


def control_groups() -> Check:
    """Make a group at the root of each hierarchy, set a limit in it, and remove it."""
    works: list[str] = []
    fails: dict[str, list[str]] = {}
    for controller in LIMITS:
        failure = _try_group(controller)
        if failure is None:
            works.append(controller)
        else:
            fails.setdefault(failure, []).append(controller)
    lacks = [f"{', '.join(names)}: {failure}" for failure, names in fails.items()]
    seen = "; ".join(filter(None, [", ".join(works), *lacks]))
    if not fails:
        return Check(GROUP, "control groups", Verdict.WORKS, seen)
    return Check(
        GROUP,
        "control groups",
        Verdict.PARTLY if works else Verdict.MISSING,
        seen,
        "placement on PUs, CPU weights or memory limits of what does not work",
        AS_ROOT if os.geteuid() else "mount the controllers, or run outside of this container",
    )


def _try_group(controller: str) -> str | None:
    hierarchy = with_controller(controller)
    if hierarchy is None:
        return "not mounted"
    _remove_left_over(hierarchy.root)
    group = hierarchy.root / f"{OURS}{os.getpid()}"
    try:
        group.mkdir(exist_ok=True)
    except OSError as error:
        return f"version {hierarchy.version}: no group can be made: {error.strerror}"
    try:
        # Where groups can be made they may still be given nothing.
        return occupied(hierarchy.root) or _try_limit(
            group, LIMITS[controller][hierarchy.version - 1]
        )
    except OSError as error:
        return f"version {hierarchy.version}: cannot be read: {error.strerror}"
    finally:
        with suppress(OSError):  # the next doctor removes it
            group.rmdir()


def _remove_left_over(root: Path) -> None:
    """The groups of doctors that were killed: empty, since no process ever enters one."""
    for group in root.glob(f"{OURS}*"):
        pid = group.name.removeprefix(OURS)
        if pid.isdigit() and not Path("/proc", pid).exists():
            with suppress(OSError):
                group.rmdir()


def _try_limit(group: Path, name: str) -> str | None:
    """Write a limit's own value back."""
    limit = group / name
    value = read_text(limit)
    if value is None:
        # Version 2 has it once the root hands the controller down, which a run asks for.
        control = group.parent / "cgroup.subtree_control"
        return None if os.access(control, os.W_OK) else f"no {name}, and {control} is read-only"
    try:
        # A new cpuset of version 1 is empty; what it may have is what the group above has.
        limit.write_text(value or read_text(group.parent / name) or "0", encoding="ascii")
    except OSError as error:
        return f"{name} cannot be set: {error.strerror}"
    return None
