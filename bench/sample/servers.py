"""Something to sample: processes with threads, in control groups, some of them listening."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SUBJECTS = ("web.1", "app.1", "lb.1", "db.1")
PROCESSES = 5
THREADS = 8
CONTROLLERS = ("cpu", "cpuacct", "memory", "blkio")
MOUNTS = Path("/sys/fs/cgroup")

SERVER = f"""
import hashlib, socket, sys, threading, time
listener = socket.create_server((sys.argv[1], 0), backlog=64)
print(listener.getsockname()[1], flush=True)
def work():
    while True:
        time.sleep(0.2)
        for _ in range(40):
            hashlib.sha256(b"x" * 4096).digest()
for _ in range({THREADS - 1}):
    threading.Thread(target=work, daemon=True).start()
work()
"""


def group_folders(name: str) -> dict[str, Path]:
    """Where the control group `name` is: by controller in version 1, or `unified`.

    As in a trial, a unified tree beside version 1 joins in for its accounts of pressure.
    """
    mounted = [controller for controller in CONTROLLERS if (MOUNTS / controller).is_dir()]
    if not mounted:
        return {"unified": MOUNTS / name}
    folders = {controller: MOUNTS / controller / name for controller in mounted}
    unified = MOUNTS / "unified"
    if (unified / "cgroup.procs").exists() and Path("/proc/pressure").is_dir():
        folders["unified"] = unified / name
    return folders


@contextmanager
def servers(tag: str) -> Iterator[dict[str, Any]]:
    """Start the servers; gives the plan's `subjects` and `listen`, and takes all down again."""
    started: list[subprocess.Popen[str]] = []
    made: list[Path] = []
    plan: dict[str, Any] = {"subjects": [], "listen": []}
    try:
        for number, subject in enumerate(SUBJECTS, start=1):
            folders = group_folders(f"{tag}-{subject}")
            for folder in folders.values():
                folder.mkdir()
                made.append(folder)
            address = f"127.0.{number}.77"
            for _ in range(PROCESSES):
                command = [sys.executable, "-S", "-c", SERVER, address]
                server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
                started.append(server)
                assert server.stdout is not None
                port = int(server.stdout.readline())
                for folder in folders.values():
                    (folder / "cgroup.procs").write_text(str(server.pid))
            plan["subjects"].append(
                {"name": subject, "cgroups": {kind: str(path) for kind, path in folders.items()}}
            )
            plan["listen"].append({"subject": subject, "address": address, "port": port})
        yield plan
    finally:
        for server in started:
            server.kill()
            server.wait()
        for folder in made:
            remove(folder)


def remove(group: Path) -> None:
    """Remove a control group once the kernel has let go of its processes."""
    for _ in range(100):
        try:
            group.rmdir()
        except OSError:
            time.sleep(0.02)
        else:
            return
    group.rmdir()


def cpu_ns(pid: int) -> int:
    """CPU time of a process and its threads so far: its CPU clock, clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


if __name__ == "__main__":
    with servers(f"tierlab-{os.getpid()}") as example:
        print(example)
