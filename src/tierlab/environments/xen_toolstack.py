"""What Xen's toolstack is told about domains, and what it answers.

Source: xl(1), xl.cfg(5), and Xen's debug key `u` (xen/arch/x86/numa.c), the only one that tells on
which nodes a domain's memory really is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tierlab.environments.base import listed
from tierlab.environments.guest_words import SHARE
from tierlab.environments.image import BARE_KERNEL, INITRAMFS
from tierlab.machine.mapping import USUAL_WEIGHT

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
class Description:
    """A domain to be, as xl.cfg(5) has it."""

    name: str
    memory: int
    """Bytes."""
    vcpus: int
    built_on: frozenset[int] | None
    """PUs that it may run on while it is built; None leaves that to Xen."""
    words: Sequence[str]
    """The kernel's command line."""
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
        lines: dict[str, object] = {
            "name": self.name,
            "type": "pv",
            "kernel": BARE_KERNEL,
            "ramdisk": INITRAMFS,
            "cmdline": " ".join(self.words),
            "memory": self.memory // MIB,
            "vcpus": self.vcpus,
            "disk": disks,
            "p9": [f"tag={SHARE},security_model=none,path={self.folder}"],
            **dict.fromkeys(("on_poweroff", "on_reboot", "on_crash"), "destroy"),
        }
        if self.built_on is not None:
            # With the hard affinity alone, memory would come from a node that xl chooses.
            lines["cpus"] = lines["cpus_soft"] = listed(self.built_on)
        if self.bridge is not None:
            lines["vif"] = [f"mac={self.mac},bridge={self.bridge},{join}"]
        # A string, a number or a list of strings is written there as in Python.
        return "".join(f"{key} = {value!r}\n" for key, value in lines.items())


@dataclass(frozen=True)
class Seen:
    """A domain as Xen has it."""

    memory: int
    """Bytes."""
    cpu_ns: int
    """To a tenth of a second."""
    vcpus: tuple[frozenset[int] | None, ...]
    """PUs that each may run on; None for all."""
    weight: int
    pages: Mapping[int, int]
    """Of its memory on each node, where it has any."""


def looked(said: str) -> dict[str, Seen]:
    """Every domain by its name, from what `LOOK` says."""
    domains, vcpus, weights, log = said.split("\n\n", 3)
    pages = _pages(log)
    found = {}
    for line in domains.splitlines()[1:]:
        name, number, memory, _, _, seconds = line.split()
        found[name] = Seen(
            memory=int(memory) * MIB,
            cpu_ns=round(float(seconds) * 1e9),
            vcpus=tuple(_affinities(name, vcpus)),
            weight=_weight(name, weights),
            pages=pages.get(int(number), {}),
        )
    return found


def pin(name: str, vcpus: Sequence[frozenset[int]]) -> str:
    """Commands that let each vCPU run on its PUs only."""
    return "; ".join(f"xl vcpu-pin {name} {k} {listed(pus)}" for k, pus in enumerate(vcpus))


def set_weight(name: str, weight: int) -> str:
    """The command that sets a domain's weight, given in Tierlab's measure."""
    return f"xl sched-credit2 -d {name} -w {round(weight / WEIGHT_UNIT)}"


def set_memory(name: str, size: int) -> str:
    """The command that leaves a domain so many bytes."""
    return f"xl mem-set {name} {size // MIB}m"


def _affinities(name: str, table: str) -> list[frozenset[int] | None]:
    """The hard affinities: `Name ID VCPU CPU State Time(s) Hard / Soft`."""
    rows = (line.split() for line in table.splitlines())
    hard = {int(row[2]): row[6] for row in rows if row and row[0] == name}
    return [None if hard[k] == "all" else _numbers(hard[k]) for k in sorted(hard)]


def _numbers(text: str) -> frozenset[int]:
    """PUs as xl writes them: ``0-1,3``."""
    ranges = (part.partition("-") for part in text.split(","))
    return frozenset(pu for low, _, high in ranges for pu in range(int(low), int(high or low) + 1))


def _weight(name: str, table: str) -> int:
    """From the table `Name ID Weight Cap`."""
    rows = (line.split() for line in table.splitlines())
    return next(int(row[2]) * WEIGHT_UNIT for row in rows if row and row[0] == name)


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
