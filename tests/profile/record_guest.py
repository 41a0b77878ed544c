"""How `guest.data` was recorded: perf and a guest, in a host with KVM, emulated where none has it.

    python -m tests.profile.record_guest FOLDER

A processor without performance counters samples by its clock, whose interrupt ends a guest's turn:
perf is told where the guest was (perf_guest_cbs in the kernel's include/linux/perf_event.h).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.environments.emulated_host import RESULTS, EmulatedHost
from tests.environments.guests import hypervisor, no_kvm
from tierlab.environments.domain import DomainSpec
from tierlab.environments.images.image import cache_folder
from tierlab.environments.ledger import Ledger
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.environment import Qemu

NAME = "guest.data"
MIB = 1 << 20
WORK = "i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); : >/dev/null; done"
OPTIONS = (
    "-q",
    "-k",
    "CLOCK_MONOTONIC",
    "-e",
    "cpu-clock,page-faults",
    "-F",
    "199",
    "--sample-cpu",
)
SECONDS = "5"


def record(folder: Path) -> None:
    """Record a guest that works, and its hypervisor."""
    with tempfile.TemporaryDirectory() as ledger:
        qemu = Qemu(Ledger(f"record{os.getpid()}", Path(ledger)))
        try:
            address = qemu.addresses.server(2, 1)
            asked = Placement(pus=frozenset({0}), memory=256 * MIB)
            domain = qemu.create(DomainSpec("app.1", asked, vcpus=1, address=address))
            domain.start()
            print("guest is ready", flush=True)
            domain.spawn(["sh", "-c", WORK], log="work.log")
            print("records", flush=True)
            subprocess.run(
                [
                    *("perf", "kvm", "--host", "--guest", "record", *OPTIONS),
                    *("-p", str(hypervisor(domain)), "-o", str(folder / NAME)),
                    *("--", "sleep", SECONDS),
                ],
                check=True,
            )
        finally:
            qemu.destroy()


def main(folder: Path) -> None:
    """Record here, or where this machine has no KVM in an emulated host."""
    if no_kvm() is None:
        record(folder)
        return
    with tempfile.TemporaryDirectory() as work:
        host = EmulatedHost(Path(work))
        command: list[str | Path] = [sys.executable, "-m", __spec__.name, RESULTS]
        host.run(command, {"XDG_CACHE_HOME": str(cache_folder().parents[1])})
        shutil.copy(host.results / NAME, folder / NAME)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
