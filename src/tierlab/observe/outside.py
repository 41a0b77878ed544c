"""What domains take by their hypervisor's own books, where this host's samplers do not see it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tierlab.environments.accounts import Accounts, Rows
from tierlab.errors import UserError
from tierlab.tables.clock import ClockReading, on_host
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import Manifest
from tierlab.tables.rows import write_rows

ASKED_WITH = {"domain": "domain", "hypervisor_disk": "disk"}
"""Each table that books may fill, and the sampler with which it is asked for."""


class OutsideObserver:
    """Has the books kept while a trial runs. What cannot be is named, and the trial goes on."""

    def __init__(
        self,
        folder: RunFolder,
        manifest: Manifest,
        samplers: Collection[str],
        *,
        simulates: bool = False,
    ) -> None:
        """`simulates`: whether caches are simulated, too."""
        self._folder, self._manifest = folder, manifest
        self._wanted = [table for table, sampler in ASKED_WITH.items() if sampler in samplers]
        self._simulates = simulates
        self._accounts: Accounts | None = None
        self._readings: list[ClockReading] = []

    def start(self, accounts: Accounts | None) -> None:
        """Open the books, if there are any and they are asked for."""
        if accounts is None or not (self._wanted or self._simulates):
            return
        try:
            accounts.open()
            self._read_clock(accounts)
        except UserError as error:
            accounts.close()
            lost = [*self._wanted, *(["counters"] if self._simulates else [])]
            self._manifest.not_measured.update(dict.fromkeys(lost, str(error)))
            return
        self._accounts = accounts

    def stop(self) -> None:
        """Write down what is in them, on this host's time axis."""
        accounts, self._accounts = self._accounts, None
        if accounts is None:
            return
        accounts.close()
        try:
            self._read_clock(accounts)
        except UserError as error:
            self._manifest.not_measured[f"clock (at the end) of {accounts.subject}"] = str(error)
        if self._readings:
            self._manifest.clocks[accounts.subject] = self._readings
        for table, found in accounts.tables().items():
            if table in self._wanted:
                self._write(table, found)
        if (counters := accounts.counters()) is not None:
            path = self._folder.streams / "simulated.counters.arrows"
            if write_rows(path, "counters", counters) == 0:
                self._manifest.not_measured["counters"] = "the trial ended before the first tick"

    def _read_clock(self, accounts: Accounts) -> None:
        reading = accounts.read_clock()
        if reading is not None:
            self._readings.append(reading)

    def _write(self, table: str, found: Rows) -> None:
        if not found:
            self._manifest.not_measured[table] = (
                "the trial ended before the hypervisor's first look"
            )
            return
        if self._readings:
            times = on_host(self._readings, np.array([row["t_ns"] for row in found], np.int64))
            found = [{**row, "t_ns": int(t_ns)} for row, t_ns in zip(found, times, strict=True)]
        write_rows(self._folder.streams / f"outside.{table}.arrows", table, found)
        self._manifest.not_measured.pop(table, None)  # this host's samplers had found none
