"""Tierlab: a performance laboratory for n-tier applications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas

    from tierlab.notebook.run import OpenedRun

__all__ = ["open", "open_experiment"]


def open(path: str | Path) -> OpenedRun:
    """Open a run folder: every table is an attribute of the result, figures and findings too.

    >>> import tierlab
    >>> run = tierlab.open("runs/quickstart/001")  # doctest: +SKIP
    >>> run.requests.count().execute()  # doctest: +SKIP
    >>> run.summary.responses.throughput  # doctest: +SKIP

    Raises :class:`tierlab.errors.UserError` when ``path`` is not a run folder.
    """
    from tierlab.notebook.run import OpenedRun

    return OpenedRun(Path(path))


def open_experiment(path: str | Path) -> pandas.DataFrame:
    """Open an experiment's folder: one frame of factors, figures and findings, a row a trial.

    >>> import tierlab
    >>> trials = tierlab.open_experiment("runs/threads")  # doctest: +SKIP
    >>> trials.groupby("system.app.soft.threads").p99_s.mean()  # doctest: +SKIP

    Raises :class:`tierlab.errors.UserError` when there is no run folder in ``path``.
    """
    from tierlab.notebook.experiment import opened_experiment

    return opened_experiment(path)
