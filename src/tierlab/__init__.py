"""Tierlab: a performance laboratory for n-tier applications."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tierlab.tables.run import Run

__all__ = ["open"]


def open(path: str | Path) -> Run:
    """Open a run folder: every table is an attribute of the result.

    >>> import tierlab
    >>> run = tierlab.open("runs/quickstart/001")  # doctest: +SKIP
    >>> run.requests.count().execute()  # doctest: +SKIP

    Raises :class:`tierlab.errors.UserError` when ``path`` is not a run folder.
    """
    from tierlab.tables.run import Run

    return Run(Path(path))
