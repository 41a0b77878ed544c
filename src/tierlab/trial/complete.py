"""Whoever reads a run folder has it completed first, if its trial was killed."""

from __future__ import annotations

from pathlib import Path

from tierlab.tables.folder import RunFolder


def complete(run: Path) -> None:
    """Make tables of what the agents of a killed trial wrote, and of visits that could not be
    linked at a trial's end; any other folder is left as it is.

    Raises :class:`StillRunningError` when the trial still runs, and another :class:`UserError`
    where it cannot be completed.
    """
    folder = RunFolder(run)
    folder.remove_rest()
    # Both take longer to load than most reports to make.
    if folder.is_unfinished:
        from tierlab.trial.finish import recover

        recover(folder)
    elif folder.unlinked.is_dir():
        from tierlab.trial.link import link_later

        link_later(folder)
