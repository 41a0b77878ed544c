"""What tests of guests look at from the host: each guest's hypervisor."""

from __future__ import annotations

from pathlib import Path

from tests.environments.obstacle import obstacle
from tierlab.environments.qemu import kvm
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu

FAR_NODE = 1
"""The memory node on which tests of placement want a guest."""


def hypervisor(domain: QemuDomain) -> int:
    """Its process. KVM has one of the kernel's own in the same control group, without a program."""
    group = next(iter(domain.cgroups().values()))
    pids = (group / "cgroup.procs").read_text().split()
    (pid,) = (pid for pid in pids if Path("/proc", pid, "exe").exists())
    return int(pid)


def no_kvm() -> str | None:
    """Why no guest can be run by KVM on the second of two nodes here; None if one can."""
    if (reason := obstacle("qemu")) is not None:
        return reason
    if not kvm.serves():
        return "KVM does not serve here"
    return None if FAR_NODE in Qemu.probe().nodes else "needs two memory nodes"
