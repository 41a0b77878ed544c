"""Where a process has its number: run folders and ledgers may lie where several see them."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from tierlab.machine.kernel_files import read_text

MACHINE_ID = Path("/etc/machine-id")
PID_NAMESPACE = Path("/proc/self/ns/pid")


def boot_id() -> str:
    """Name this boot of the machine: processes and namespaces do not outlive it."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(frozen=True)
class Place:
    """A machine, and a PID namespace of it (its inode number)."""

    host: str
    """Its name, for people."""
    machine: str
    pid_namespace: int

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is another machine."""
        return self.machine != here().machine

    @property
    def out_of_sight(self) -> str | None:
        """Where its processes are, in words, if nobody here can tell whether they run."""
        if self.is_elsewhere:
            return f"on host {self.host}"
        if self.pid_namespace != here().pid_namespace:
            return "in another container of this machine"
        return None


def here() -> Place:
    """Where this process is."""
    host = os.uname().nodename
    return Place(host, _machine(host), PID_NAMESPACE.stat().st_ino)


def _machine(host: str) -> str:
    """Hashed, since machine-id(5) is not to be given away and run folders are."""
    known = read_text(MACHINE_ID)
    if known in (None, "", "uninitialized"):
        known = f"{host} {boot_id()}"
    return hashlib.sha256(f"tierlab {known}".encode()).hexdigest()[:16]
