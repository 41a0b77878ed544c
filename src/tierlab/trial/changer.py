"""Makes a trial's changes when their time has come, and writes down what was asked and found."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tierlab.deploy.neighbours import Neighbours
from tierlab.deploy.placement import changed_placement
from tierlab.deploy.systems import Systems
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.experiment.change import Change
from tierlab.trial.migration import Migrations

LOG = "changes.jsonl"
DETAIL = ("asked", "found", "migration")
"""What of a line is the detail of its event."""


class Changer:
    """Changes `system`, or its neighbours, from `runtime_ns` on; each change is a line of its log
    once it is made.
    """

    def __init__(
        self,
        changes: Sequence[Change],
        system: Systems,
        neighbours: Neighbours,
        migrations: Migrations,
        *,
        runtime_ns: int,
        logs: Path,
    ) -> None:
        self._left = list(changes)
        self._system = system
        self._neighbours = neighbours
        self._migrations = migrations
        self._runtime_ns = runtime_ns
        self._log = logs / LOG

    @property
    def wait_s(self) -> float:
        """Until the next change is due."""
        if not self._left:
            return float("inf")
        return max(0.0, (self._runtime_ns + self._left[0].at_ns - time.time_ns()) / 1e9)

    def check(self) -> None:
        """Make what is due; raise :class:`UserError` when it is not in force afterwards."""
        while self._left and not self.wait_s:
            self._make(self._left.pop(0))

    def finish(self) -> None:
        """Raise :class:`UserError` when the trial ended before a change was made."""
        for change in self._left:
            raise UserError(f"change of {change.on}: the trial ended before its time came.")

    def _make(self, change: Change) -> None:
        start_ns = time.time_ns()
        try:
            detail = self._made(change)
        except UserError as error:
            raise UserError(f"change of {change.on}: {error}") from error
        line = {
            "t_ns": start_ns,
            "duration_ns": time.time_ns() - start_ns,
            "subject": change.on,
            **detail,
        }
        with self._log.open("a") as log:
            log.write(f"{json.dumps(line)}\n")

    def _made(self, change: Change) -> dict[str, Any]:
        """Make it; what was asked, what of that was read back, and how a move went."""
        if change.vcpus is not None:
            found = self._neighbours.occupy(change.vcpus)
            return {"asked": {"vcpus": change.vcpus}, "found": {"vcpus": found}}
        asked, moved = changed_placement(change, self._system.machine), {}
        if change.host is not None:
            moved = {"migration": self._migrations.make(change.on, change.host)}
        has = _plain(self._system.change(change.on, asked, change.soft))
        wanted = _plain(asked)
        found_of_it = {name: has[name] for name in wanted}
        return {"asked": wanted | change.soft, "found": found_of_it | change.soft, **moved}


def _plain(placement: Placement) -> dict[str, Any]:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(placement).items()
        if value is not None
    }


def made(logs: Path) -> Iterator[dict[str, Any]]:
    """The changes that were made, as rows of `events`."""
    path = logs / LOG
    if not path.exists():
        return
    for text in path.read_text().splitlines(keepends=True):
        if not text.endswith("\n"):
            return  # killed while it was written
        line = json.loads(text)
        detail = {name: line.pop(name) for name in DETAIL if name in line}
        yield {"kind": "change", "detail": json.dumps(detail), **line}
