"""What Xen's toolstack is told about domains, and what it answers.

Source: xl(1), xl.cfg(5), and Xen's debug key `u` (xen/arch/x86/numa.c), the only one that tells on
which nodes a domain's memory really is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tierlab.environments.guests.words import SHARE
from tierlab.environments.images.image import BARE_KERNEL, INITRAMFS
from tierlab.environments.placement import listed
from tierlab.machine.mapping import USUAL_WEIGHT, Seats

MIB = 1 << 20
WEIGHT_UNIT = USUAL_WEIGHT // 256
"""Xen's usual weight is 256."""

LOOK = """\
xl list; echo; xl vcpu-list; echo; xl sched-credit2; echo
xl dmesg --clear >/dev/null; xl debug-keys u; xl dmesg
"""
"""Says all that `looked` reads."""


DISK = "xvdb"
"""What a domain calls the disk of its own."""


@dataclass(frozen=True)
class Kernel:
    """What every domain to be has."""

    name: str
    memory: int
    """Bytes."""
    vcpus: int
    words: Sequence[str]
    """The kernel's command line."""
    ramdisk: str = INITRAMFS
    """Its first file system, a file of domain 0's."""

    def lines(self) -> dict[str, object]:
        """As xl.cfg(5) has it."""
        return {
            "name": self.name,
            "type": "pv",
            "kernel": BARE_KERNEL,
            "ramdisk": self.ramdisk,
            "cmdline": " ".join(self.words),
            "memory": self.memory // MIB,
            "vcpus": self.vcpus,
            **dict.fromkeys(("on_poweroff", "on_reboot", "on_crash"), "destroy"),
        }


def placed(kernel: Kernel, seats: Seats) -> str:
    """The file for `xl create` of a domain without a device, each vCPU on its PU from the start."""
    cpus = [str(pu) for pu in seats.vcpus]
    return _text({**kernel.lines(), "cpus": cpus, "cpu_weight": weighed(seats.weight)})


def _text(lines: Mapping[str, object]) -> str:
    # A string, a number or a list of strings is written there as in Python.
    return "".join(f"{key} = {value!r}\n" for key, value in lines.items())


@dataclass(frozen=True)
class Description:
    """A domain to be."""

    kernel: Kernel
    built_on: frozenset[int] | None
    """PUs that it may run on while it is built; None leaves that to Xen."""
    folder: Path
    root: str
    """Block device of its host's, read only."""
    hotplug: Path
    """The script that joins its disks and its wire to what is behind them."""
    disk: str | None = None
    bridge: str | None = None
    mac: str | None = None

    def text(self) -> str:
        """The file for `xl create`."""
        join = f"script={self.hotplug}"
        disks = [f"vdev=xvda,format=raw,access=ro,{join},target={self.root}"]
        if self.disk is not None:
            disks.append(f"vdev={DISK},format=raw,access=rw,{join},target={self.disk}")
        lines = self.kernel.lines() | {
            "disk": disks,
            "p9": [f"tag={SHARE},security_model=none,path={self.folder}"],
        }
        if self.built_on is not None:
            # With the hard affinity alone, memory would come from a node that xl chooses.
            lines["cpus"] = lines["cpus_soft"] = listed(self.built_on)
        if self.bridge is not None:
            lines["vif"] = [f"mac={self.mac},bridge={self.bridge},{join}"]
        return _text(lines)


@dataclass(frozen=True)
class Seen:
    """A domain as Xen has it."""

    memory: int
    """Bytes."""
    cpu_ns: int
    """To a tenth of a second."""
    vcpus: tuple[frozenset[int] | None, ...]
    """PUs that each may run on; None for all."""
    running: tuple[bool, ...]
    """Whether each wants to run: it is neither blocked nor paused."""
    weight: int
    pages: Mapping[int, int]
    """Of its memory on each node, where it has any."""


def looked(said: str) -> dict[str, Seen]:
    """Every domain by its name, from what `LOOK` says."""
    domains, vcpus, weights, log = said.split("\n\n", 3)
    pages, weighed = _pages(log), _weights(weights)
    found = {}
    for line in domains.splitlines()[1:]:
        name, number, memory, _, _, seconds = line.split()
        if name not in weighed:
            continue  # it was made between the one question and the other, or removed
        found[name] = Seen(
            memory=int(memory) * MIB,
            cpu_ns=round(float(seconds) * 1e9),
            vcpus=tuple(_affinities(name, vcpus)),
            running=tuple(not {"b", "p"} & set(state) for state in _column(name, vcpus, 4)),
            weight=weighed[name],
            pages=pages.get(int(number), {}),
        )
    return found


def pin(name: str, vcpus: Sequence[frozenset[int]]) -> str:
    """Commands that let each vCPU run on its PUs only."""
    return "; ".join(f"xl vcpu-pin {name} {k} {listed(pus)}" for k, pus in enumerate(vcpus))


def set_weight(name: str, weight: int) -> str:
    """The command that sets a domain's weight, given in Tierlab's measure."""
    return f"xl sched-credit2 -d {name} -w {weighed(weight)}"


def weighed(weight: int) -> int:
    """Return Xen's weight, given Tierlab's measure."""
    return round(weight / WEIGHT_UNIT)


def set_memory(name: str, size: int) -> str:
    """The command that leaves a domain so many bytes."""
    return f"xl mem-set {name} {size // MIB}m"


def _affinities(name: str, table: str) -> list[frozenset[int] | None]:
    """The hard affinities."""
    return [None if hard == "all" else _numbers(hard) for hard in _column(name, table, 6)]


def _column(name: str, table: str, column: int) -> list[str]:
    """Of each vCPU in order, from the table `Name ID VCPU CPU State Time(s) Hard / Soft`."""
    rows = (line.split() for line in table.splitlines())
    found = {int(row[2]): row[column] for row in rows if row and row[0] == name}
    return [found[vcpu] for vcpu in sorted(found)]


def _numbers(text: str) -> frozenset[int]:
    """PUs as xl writes them: ``0-1,3``."""
    ranges = (part.partition("-") for part in text.split(","))
    return frozenset(pu for low, _, high in ranges for pu in range(int(low), int(high or low) + 1))


def _weights(table: str) -> dict[str, int]:
    """Of each domain, from the table `Name ID Weight Cap` below two other lines."""
    rows = (line.split() for line in table.splitlines()[2:])
    return {name: int(weight) * WEIGHT_UNIT for name, _, weight, _ in rows}


DOMAIN = re.compile(r"Domain (\d+) \(total: \d+\)")
NODE = re.compile(r"Node (\d+): (\d+)")


def _pages(log: str) -> dict[int, dict[int, int]]:
    """What the debug key prints: each domain's line, then one a node."""
    found: dict[int, dict[int, int]] = {}
    mine: dict[int, int] = {}
    for line in log.splitlines():
        if domain := DOMAIN.search(line):
            mine = found[int(domain[1])] = {}
        elif (node := NODE.search(line)) and int(node[2]):
            mine[int(node[1])] = int(node[2])
    return found
