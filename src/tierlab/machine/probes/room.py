"""Is there room for a run: disk, memory, descriptors, queues?"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from tierlab.machine.check import Check, Verdict
from tierlab.machine.kernel_files import read_number

GROUP = "room"
MIB = 1 << 20
DEMO_DISK = 1024 * MIB
DEMO_MEMORY = 1024 * MIB
MANY_DESCRIPTORS = 20_000
DEMO_DESCRIPTORS = 1024
LONG_QUEUE = 511
"""httpd's default ListenBacklog."""


def checks(folders: Mapping[str, tuple[Path, str]]) -> Iterator[Check]:
    """Room for a run. `folders` by what is kept there, each with what else to do."""
    for use, (folder, remedy) in folders.items():
        yield disk(use, folder, remedy)
    yield memory()
    yield swap()
    yield descriptors()
    yield accept_queue_limit()


def disk(use: str, folder: Path, remedy: str) -> Check:
    """Free space where something is kept."""
    place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free
    seen = f"{free / MIB:,.0f} MiB free at {place}"
    if free >= DEMO_DISK:
        return Check(GROUP, f"disk for {use}", Verdict.WORKS, seen, needed=True)
    return Check(
        GROUP,
        f"disk for {use}",
        Verdict.MISSING,
        seen,
        "a run: the demo's servers and tables take up to 1024 MiB",
        f"free some there{remedy}",
        needed=True,
    )


def memory() -> Check:
    """Memory that can be had without swapping."""
    available = psutil.virtual_memory().available
    seen = f"{available / MIB:,.0f} MiB available"
    if available >= DEMO_MEMORY:
        return Check(GROUP, "memory", Verdict.WORKS, seen, needed=True)
    return Check(
        GROUP,
        "memory",
        Verdict.MISSING,
        seen,
        "four tiers, whose servers take up to 1024 MiB",
        "end other programs, or give this machine more",
        needed=True,
    )


def swap() -> Check:
    """Swap space, which decides what a full memory does: thrash, or kill."""
    total = psutil.swap_memory().total
    if total:
        return Check(GROUP, "swap", Verdict.WORKS, f"{total / MIB:,.0f} MiB")
    return Check(
        GROUP,
        "swap",
        Verdict.PARTLY,
        "none",
        "thrashing of anonymous memory: over its limit a server is killed instead",
        "a swap file, where an experiment wants it",
    )


def descriptors() -> Check:
    """The limit of open files, one for each connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard >= MANY_DESCRIPTORS:
        seen = "no limit" if hard == resource.RLIM_INFINITY else f"{hard:,} at most"
        return Check(GROUP, "open files", Verdict.WORKS, seen, needed=True)
    return Check(
        GROUP,
        "open files",
        Verdict.PARTLY if hard >= DEMO_DESCRIPTORS else Verdict.MISSING,
        f"{hard:,} at most",
        f"more than about {hard // 2:,} connections at once",
        "ulimit -Hn 65536 before, or LimitNOFILE of the service that starts this shell",
        needed=True,
    )


def accept_queue_limit() -> Check:
    """net.core.somaxconn caps every server's backlog."""
    most = read_number(Path("/proc/sys/net/core/somaxconn"))
    seen = f"net.core.somaxconn is {most}"
    if most is not None and most >= LONG_QUEUE:
        return Check(GROUP, "accept queue limit", Verdict.WORKS, seen)
    return Check(
        GROUP,
        "accept queue limit",
        Verdict.PARTLY,
        seen,
        f"backlogs over {most}: the kernel shortens them in silence",
        "sysctl net.core.somaxconn=4096",
    )
