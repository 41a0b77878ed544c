"""Run folders: ``<runs>/<experiment>/<number>/``, made once and never written over."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tierlab.errors import UserError

NAMED = 24
"""So many characters of an experiment's name are in the names of what its trials make."""

LEAST_BYTES = 64 << 20
"""A minute of a busy trial writes about this much."""

SUMMARY, FINDINGS = "summary.json", "findings.json"
"""What a report leaves of a trial's figures and findings."""


@dataclass(frozen=True)
class RunFolder:
    """Where a trial's files go. ``streams`` exists only until the tables are Parquet."""

    path: Path

    @property
    def trial(self) -> str:
        """The trial's number, as the folder has it."""
        return self.path.name

    @property
    def streams(self) -> Path:
        """What the agents write while the trial runs."""
        return self.path / "streams"

    @property
    def is_unfinished(self) -> bool:
        """Whether streams are still to be made into tables."""
        return self.streams.is_dir()

    def remove_streams(self) -> None:
        """Remove the streams, all at once for whoever looks: without some of them the tables could
        be made anew, but not whole.
        """
        if self.streams.is_dir():
            self.streams.rename(self._removed)
        self.remove_rest()

    def remove_rest(self) -> None:
        """Remove what a kill left of streams that were being removed."""
        if self._removed.is_dir():
            shutil.rmtree(self._removed, ignore_errors=True)

    @property
    def _removed(self) -> Path:
        return self.path / ".streams"

    def forget_figures(self) -> None:
        """Remove the figures and findings of the last report, once there are other tables than it
        had.
        """
        for name in (SUMMARY, FINDINGS):
            (self.path / name).unlink(missing_ok=True)

    @property
    def unlinked(self) -> Path:
        """Visits that could not be linked to their parents yet, if there are any."""
        return self.path / "unlinked"

    @property
    def logs(self) -> Path:
        """Each server's and agent's log and rendered configuration."""
        return self.path / "logs"


def create(runs: Path, experiment: str) -> RunFolder:
    """Make the next run folder of an experiment: ``001``, ``002``, ... after those that are there.

    Raises :class:`UserError` when it cannot be made.
    """
    parent = runs / experiment
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _check_space(parent)
        while True:
            # A trial's truth (``001.truth``) keeps its number, also when its run folder is gone.
            names = [path.name.partition(".")[0] for path in parent.iterdir()]
            numbers = [int(name) for name in names if name.isdigit()]
            folder = RunFolder(parent / f"{max(numbers, default=0) + 1:03}")
            try:
                folder.path.mkdir()
            except FileExistsError:
                # Another trial of the same experiment took the number first.
                continue
            folder.streams.mkdir()
            folder.logs.mkdir()
            return folder
    except OSError as error:
        raise UserError(
            f"{parent} cannot hold a run folder ({error.strerror}): "
            "name another folder with --runs."
        ) from error


def _check_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < LEAST_BYTES:
        raise UserError(
            f"{folder} lies on a disk with {free >> 20} MiB left and a trial needs at least "
            f"{LEAST_BYTES >> 20} MiB: free some space or name another folder with --runs."
        )
