"""What each guest asks of its disks, every two seconds, by QEMU's own count; simulated caches.

It counts a request from when the guest's driver hands it over until it is answered: the guest
latency of figures 18 and 19 in J. Park, "Performance Scalability of N-Tier Application in
Virtualized Cloud Environments" (PhD thesis, Georgia Institute of Technology, 2016), seen from the
top of the hypervisor. See domstats in https://libvirt.org/manpages/virsh.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tierlab.environments.accounts import Accounts, Rows
from tierlab.environments.daemons.libvirt import LibvirtDaemon
from tierlab.environments.guests.disk_counters import DiskCounters, rows
from tierlab.environments.process import Process
from tierlab.environments.qemu.simulated_caches import SimulatedCaches
from tierlab.environments.removal import GRACE

SECONDS = 2

_KEEP = """\
while sleep "$1"; do echo "echo at $(date +%s%N)"; echo "domstats --block --nowait"; done |
virsh --quiet --connect "$2"
"""
"""One virsh for all looks: to start one costs more than to ask."""

TIME = re.compile(r"^virsh # echo at (\d+)$")
"""virsh repeats what it is told, and what it says of it follows."""

FIELDS = ("rd.reqs", "wr.reqs", "rd.bytes", "wr.bytes", "rd.times", "wr.times")
"""In the order of `DiskCounters`."""


class QemuAccounts(Accounts):
    """The books of all hosts of a trial: a guest that moves begins a new page."""

    subject = "host"

    def __init__(
        self, hosts: Mapping[str, LibvirtDaemon], prefix: str, caches: SimulatedCaches | None = None
    ) -> None:
        """`prefix`: what libvirt calls a guest has it before the server's name. `caches`: those
        that are simulated for the guests.
        """
        self._hosts, self._prefix, self._caches = hosts, prefix, caches
        self._keepers: list[Process] = []
        self._logs: list[Path] = []

    def open(self) -> None:
        """Have libvirt asked again and again."""
        if self._caches is not None:
            self._caches.open()
        for daemon in self._hosts.values():
            log = daemon.folder / "blocks.log"
            self._keepers.append(daemon.keep(_KEEP, str(SECONDS), daemon.uri, log=log))
            self._logs.append(log)

    def close(self) -> None:
        """Ask no more."""
        if self._caches is not None:
            self._caches.close()
        while self._keepers:
            self._keepers.pop().stop(GRACE)

    def read_clock(self) -> None:
        """It is this host's."""

    def tables(self) -> Mapping[str, Rows]:
        """The disks; what else a guest takes is known to this host's kernel."""
        found: Rows = []
        for log in self._logs:
            found += rows(looks(log.read_text(), self._prefix))
        return {"hypervisor_disk": found}

    def counters(self) -> Iterator[dict[str, Any]] | None:
        """What ran in guests with simulated caches since the books were opened."""
        return None if self._caches is None else self._caches.rows()


def looks(said: str, prefix: str) -> Iterator[tuple[int, str, DiskCounters]]:
    """Each disk of each guest at each look, from what `_KEEP` wrote; a line that is cut is none."""
    t_ns, guest, disk, counts = 0, "", "", dict[str, int]()
    for line in said[: said.rfind("\n") + 1].splitlines():
        key, _, value = line.strip().partition("=")
        field = key.partition(".")[2].partition(".")[2]
        if told := TIME.search(key):
            t_ns = int(told[1])
        elif key.startswith("Domain: "):
            guest = key.removeprefix("Domain: ").strip("'").removeprefix(prefix)
        elif field == "name":
            disk, counts = value, {}
        elif field in FIELDS:
            counts[field] = int(value)
            if field == FIELDS[-1] and len(counts) == len(FIELDS):
                yield t_ns, f"{guest}/{disk}", DiskCounters(*(counts[each] for each in FIELDS))
