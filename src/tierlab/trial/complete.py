"""Whoever reads a run folder has it completed first, if its trial was killed."""

from __future__ import annotations

from pathlib import Path

from tierlab.tables.folder import RunFolder


def complete(run: Path) -> None:
    """Make tables of what the agents of a killed trial wrote; any other folder is left as it is.

    Raises :class:`UserError` when the trial still runs.
    """
    folder = RunFolder(run)
    folder.remove_rest()
    if folder.is_unfinished:
        # This takes longer to load than most reports to make.
        from tierlab.trial.finish import recover

        recover(folder)
