"""A run that has a profile."""

from __future__ import annotations

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Connection
from tierlab.analysis.span import Span
from tierlab.errors import UserError


def profiled(observed: Observed) -> tuple[Connection, Span]:
    """Return its tables, and the stretch that its figures cover.

    Raises :class:`UserError` where it has no profile, or recorded nothing in its runtime.
    """
    run = observed.run
    if not run.has("counters"):
        reason = run.manifest.not_measured.get("counters", "none was asked for")
        raise UserError(
            f"{run.path} has no profile ({reason}): say observe.profile in its experiment, or bring"
            " one in with `tierlab import perf`."
        )
    if observed.measured is None:
        raise UserError(f"{run.path} has recorded nothing in its runtime.")
    return observed.db, observed.measured
