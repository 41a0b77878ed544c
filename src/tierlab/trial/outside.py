"""What domains take by their hypervisor's own books, where this host's samplers do not see it."""

from __future__ import annotations

import numpy as np

from tierlab.environments.accounts import Accounts
from tierlab.errors import UserError
from tierlab.tables.clock import ClockReading, on_host
from tierlab.tables.manifest import Manifest
from tierlab.trial.folder import RunFolder
from tierlab.trial.server_logs import write_rows

TABLE = "domain"


class OutsideObserver:
    """Has the books kept while a trial runs. What cannot be is named, and the trial goes on."""

    def __init__(self, folder: RunFolder, manifest: Manifest) -> None:
        self._folder, self._manifest = folder, manifest
        self._accounts: Accounts | None = None
        self._readings: list[ClockReading] = []

    def start(self, accounts: Accounts | None) -> None:
        """Open the books, if there are any."""
        if accounts is None:
            return
        try:
            accounts.open()
            self._readings.append(accounts.read_clock())
        except UserError as error:
            self._manifest.not_measured[TABLE] = str(error)
            return
        self._accounts = accounts

    def stop(self) -> None:
        """Write down what is in them, on this host's time axis."""
        accounts, self._accounts = self._accounts, None
        if accounts is None:
            return
        try:
            self._readings.append(accounts.read_clock())
        except UserError as error:
            self._manifest.not_measured[f"clock (at the end) of {accounts.subject}"] = str(error)
        self._manifest.clocks[accounts.subject] = self._readings
        if not (found := accounts.rows()):
            self._manifest.not_measured[TABLE] = (
                "the trial ended before the hypervisor's first look"
            )
            return
        times = on_host(self._readings, np.array([row["t_ns"] for row in found], np.int64))
        moved = [{**row, "t_ns": int(t_ns)} for row, t_ns in zip(found, times, strict=True)]
        write_rows(self._folder.streams / f"outside.{TABLE}.arrows", TABLE, moved)
        self._manifest.not_measured.pop(TABLE, None)  # this host's samplers had found none
