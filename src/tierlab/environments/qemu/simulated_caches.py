"""The caches of a machine, simulated for a trial's guests while QEMU emulates them.

Each guest is a process of its own with a plugin of ours (`agent/plugins`); a file has the
last-level caches, which guests on one package have in common.
"""

from __future__ import annotations

import itertools
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from tierlab.environments.guests.domain import seats
from tierlab.environments.qemu import kvm
from tierlab.environments.qemu.guest_code import GuestCode
from tierlab.errors import UserError
from tierlab.exchange.cache_counts import rows
from tierlab.installation import AGENT, CACHE_PLUGIN, REMEDY
from tierlab.machine import caches, topology

SECONDS = 20.0

Ask = Callable[[str], str]
"""Has a guest's shell run a script as root; what it says."""


class SimulatedCaches:
    """Of all guests of a trial."""

    def __init__(self, machine: str, folder: Path) -> None:
        """`machine`: whose caches, a source of hwloc's; `UserError` if it does not tell them.

        `folder`: for the counts.
        """
        self._machine, self._folder = machine, folder
        self._caches = caches.read(machine)
        self._shape = topology.read(machine)
        self._spaces = itertools.count()
        self._guests: dict[str, Ask] = {}
        self._code: dict[str, GuestCode] = {}
        self._opened_ns = self._closed_ns = 0

    def plugin(self, guest: str, vcpus: int, pus: frozenset[int] | None) -> str:
        """QEMU's argument for a guest whose virtual CPUs are placed on these PUs, in turn on all
        if on none. `UserError` for a PU that the machine does not have.
        """
        order = [pu.pu for pu in self._shape.pus]
        if pus is None:
            places = [order[number % len(order)] for number in range(vcpus)]
        else:
            places = [min(seat) for seat in seats(vcpus, pus)]
        if missing := set(places) - set(order):
            raise UserError(
                f"observe.simulated_caches: machine '{self._machine}' has no PU {min(missing)},"
                f" on which {guest} runs; describe one that has."
            )
        return caches.plugin(
            self._caches,
            [self._last_level(pu) for pu in places],
            self._out(guest),
            shared=self._folder / "last-level",
            space=next(self._spaces),
            one_in=self._caches.one_in,
        )

    def _last_level(self, number: int) -> int:
        """Which of the machine's last-level caches a PU has: its package's, unless packages have
        several.
        """
        places = {pu.pu: pu.package if pu.l3 is None else pu.l3 for pu in self._shape.pus}
        return list(dict.fromkeys(places.values())).index(places[number])

    def add(self, guest: str, ask: Ask) -> None:
        """Know a guest that runs."""
        self._guests[guest] = ask

    def open(self) -> None:
        """Have each guest say what code is where in it, and count from now on."""
        with ThreadPoolExecutor() as pool:
            found = pool.map(lambda ask: GuestCode(ask, [AGENT]), self._guests.values())
            self._code = dict(zip(self._guests, found, strict=True))
        self._opened_ns = time.time_ns()

    def close(self) -> None:
        """Count no longer, and look once more what runs in each guest."""
        self._closed_ns = time.time_ns()
        with ThreadPoolExecutor() as pool:
            looks = [pool.submit(self._code[name].look, self._guests[name]) for name in self._code]
        for look in looks:
            look.result()

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows of `counters` from what was opened to what was closed."""
        for guest, code in self._code.items():
            for row in rows(self._out(guest), guest, code.name):
                if row["t_ns"] - row["dt_ns"] >= self._opened_ns and row["t_ns"] <= self._closed_ns:
                    yield row

    def _out(self, guest: str) -> Path:
        return self._folder / f"{guest}.counts"


@cache
def obstacle() -> str | None:
    """Why no caches can be simulated of guests here; None if they can."""
    if kvm.serves():
        return "KVM runs guests on this machine's own processors"
    if not CACHE_PLUGIN.exists():
        return f"its plugin is not there ({REMEDY})"
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [
                    *("qemu-system-x86_64", "-accel", "tcg", "-machine", "none"),
                    *("-display", "none", "-nodefaults", "-monitor", "stdio"),
                    *("-plugin", f"{CACHE_PLUGIN},out={folder}/counts"),
                ],
                input="quit\n",
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return "its QEMU does not start"
    return (
        None if done.returncode == 0 else "its QEMU takes no plugins (TCG plugins, API version 1)"
    )
