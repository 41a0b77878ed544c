"""A neighbour in Xen that computes in turns: domain 0 tells it when, by a program of its own.

Commands of this host's take domain 0 a second and more each, as its processor is emulated and
other commands wait there; its own program heeds the time to some tens of milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from tierlab.environments.guests.domain import check_seats
from tierlab.environments.guests.process import GuestProcess
from tierlab.environments.neighbour import TimedNeighbour, Turn
from tierlab.environments.process import POLL_SECONDS
from tierlab.environments.xen.host import KEPT_SECONDS
from tierlab.environments.xen.machine import PUS
from tierlab.environments.xen.neighbour import XenNeighbour
from tierlab.environments.xen.toolstack import weighed
from tierlab.errors import UserError
from tierlab.tables.clock import ClockReading, on_host

_PROGRAM = resources.files(__package__).joinpath("turns.pl").read_text()
_RUN = 'exec perl "$@"'
SECOND = 1_000_000_000
REST_SECONDS = 120.0
"""Twice as long as domain 0 waits for its answer."""


class XenTimedNeighbour(XenNeighbour, TimedNeighbour):
    """One domain, and the program in domain 0 that tells it when to compute."""

    _teller: GuestProcess | None = None
    _turns: Sequence[Turn] = ()
    _asked: ClockReading
    """Domain 0's clock before its first turn."""

    def rest(self) -> None:
        """Have domain 0 begin to tell it, by its own clock, of which this is the last question."""
        folder = self._host.machine.folder
        program = folder / "turns.pl"
        program.write_text(_PROGRAM)
        vcpus = str(len(self._seats.vcpus))
        words = [str(program), self.name, vcpus, str(self._told), str(self._log)]
        self._teller = self._host.start(_RUN, words)
        deadline = time.monotonic() + REST_SECONDS
        while not self._log.exists():
            self._check_told()
            if time.monotonic() > deadline:
                raise UserError(f"{self.name}: it does not heed domain 0; run the trial again.")
            time.sleep(POLL_SECONDS)
        self._wanted = 0
        self._asked = self._host.read_clock()

    def take(self, turns: Sequence[Turn]) -> None:
        """Write them where domain 0 looks for them."""
        self._turns = turns
        written = self._told.with_suffix(".new")
        written.write_text("".join(map(self._line, turns)))
        written.rename(self._told)

    def taken(self) -> list[Turn]:
        """From domain 0's log: from the moment it was told to compute until it said that it rests,
        which is some tens of milliseconds more than it computed.
        """
        said = self._log.read_text() if self._log.exists() else ""
        lines = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
        if not lines:
            return []
        readings = [self._asked, self._host.read_clock()]
        seconds = np.array(lines, dtype=np.float64)
        times = on_host(readings, np.rint(seconds * SECOND).astype(np.int64).ravel())
        return [
            Turn(start_ns=int(start_ns), end_ns=int(end_ns), weight=turn.weight)
            for (start_ns, end_ns), turn in zip(times.reshape(-1, 2), self._turns, strict=False)
        ]

    def check(self) -> None:
        """Ask whether domain 0 still tells it, and where Xen has it."""
        self._check_told()
        seen = self._look(KEPT_SECONDS)
        has = [PUS if each is None else each for each in seen.vcpus]
        check_seats(self.name, "Xen", has, [frozenset({pu}) for pu in self._seats.vcpus])

    def destroy(self) -> None:
        """End what tells it first."""
        if self._teller is not None:
            self._teller.stop(0.0)
            self._teller = None
        super().destroy()

    def _check_told(self) -> None:
        if self._teller is not None and self._teller.poll() not in (None, 0):
            raise UserError(
                f"{self.name}: its turns are not told any more"
                f" ({self._teller.output[1].strip() or 'no reason given'}); run the trial again."
            )

    @property
    def _told(self) -> Path:
        return self._host.machine.folder / f"{self.name}.turns"

    @property
    def _log(self) -> Path:
        return self._host.machine.folder / f"{self.name}.turns.log"

    def _line(self, turn: Turn) -> str:
        start_s, end_s = (
            (each - self._asked.offset_ns) / SECOND for each in (turn.start_ns, turn.end_ns)
        )
        return f"{start_s:.6f} {end_s:.6f} {weighed(turn.weight)}\n"
