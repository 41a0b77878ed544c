"""What this machine is, for a run's manifest: enough to tell two machines apart, and why.

Sizes are bytes. A value that this machine does not tell is None.
"""

from __future__ import annotations

import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from tierlab.machine import topology
from tierlab.machine.control_groups import hierarchies
from tierlab.machine.kernel_files import read_fields, read_number, read_text
from tierlab.machine.programs import Program
from tierlab.machine.topology import Topology

CPUFREQ = Path("/sys/devices/system/cpu/cpu0/cpufreq")
CLOCK = Path("/sys/devices/system/clocksource/clocksource0")
DMI = Path("/sys/class/dmi/id")


def fingerprint(programs: tuple[Program, ...] = ()) -> dict[str, Any]:
    """Name, kernel, processor, topology, memory, clock, isolation and the programs asked about."""
    uname = platform.uname()
    shape = topology.read()
    return {
        "name": uname.node,
        "kernel": {"release": uname.release, "build": uname.version, "machine": uname.machine},
        "system": platform.freedesktop_os_release().get("PRETTY_NAME"),
        "cpu": processor(shape),
        "topology": [asdict(pu) for pu in shape.pus],
        "numa_nodes": len(shape.nodes) or None,
        "memory": memory(),
        "clock": {
            "source": read_text(CLOCK / "current_clocksource"),
            "available": (read_text(CLOCK / "available_clocksource") or "").split(),
        },
        "virtualisation": virtualisation(),
        "container": container(),
        "cgroups": [
            {"version": h.version, "controllers": list(h.controllers)} for h in hierarchies()
        ],
        "root": os.geteuid() == 0,
        "programs": {program.name: asdict(program) for program in programs},
    }


def processor(shape: Topology) -> dict[str, Any]:
    """Model, counts, caches and frequency policy."""
    fields = read_fields(Path("/proc/cpuinfo"))
    units = shape.pus
    return {
        "model": fields.get("model name") or fields.get("CPU part"),
        "vendor": fields.get("vendor_id") or fields.get("CPU implementer"),
        "microcode": fields.get("microcode"),
        "pus": len(units),
        "cores": len({(u.package, u.core) for u in units}),
        "packages": len({u.package for u in units}),
        "caches": [asdict(cache) for cache in shape.caches],
        "governor": read_text(CPUFREQ / "scaling_governor"),
        "frequency_driver": read_text(CPUFREQ / "scaling_driver"),
        "frequency_max_khz": read_number(CPUFREQ / "cpuinfo_max_freq"),
        "turbo_off": read_number(Path("/sys/devices/system/cpu/intel_pstate/no_turbo")),
        "smt": read_text(Path("/sys/devices/system/cpu/smt/control")),
    }


def memory() -> dict[str, Any]:
    """Sizes of memory and swap, and the policy for huge pages."""
    return {
        "total": psutil.virtual_memory().total,
        "swap": psutil.swap_memory().total,
        "swappiness": read_number(Path("/proc/sys/vm/swappiness")),
        "transparent_huge_pages": _chosen(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
    }


def _chosen(path: Path) -> str | None:
    """The word in brackets of `always [madvise] never`."""
    words = (read_text(path) or "").split()
    return next((word.strip("[]") for word in words if word.startswith("[")), None)


def virtualisation() -> str | None:
    """A hint at the hypervisor below; `none` on bare metal, None when this machine hides it."""
    xen = read_text(Path("/sys/hypervisor/type"))
    if xen:
        return xen
    flags = read_fields(Path("/proc/cpuinfo")).get("flags", "").split()
    if "hypervisor" in flags:
        names = (read_text(DMI / "sys_vendor"), read_text(DMI / "product_name"))
        return " ".join(filter(None, names)) or "unnamed hypervisor"
    return "none" if flags else None


def container() -> str | None:
    """The container manager that this process runs under, if any."""
    if Path("/run/.containerenv").exists():
        return "podman"
    if Path("/.dockerenv").exists():
        return "docker"
    return read_text(Path("/run/systemd/container"))
