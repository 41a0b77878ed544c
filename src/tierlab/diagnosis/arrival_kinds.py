"""Which visits come to the first server: all, and those of pages among the files of pages."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Ints, columns
from tierlab.diagnosis.arrivals import Arrivals, dispersion, usual

WITH_FILES = 2.0
"""Counts that scatter more than so are of requests that bring others with them."""


def arrival_kinds(
    observed: Observed, entry: str, came: Callable[[str], Ints], sent_ns: Ints
) -> tuple[Arrivals, ...]:
    """Return all visits that ``came`` to a first server and, where pages are asked for with their
    files, those that went further: users who come at once for pages are lost among others' files.
    """
    run, span = observed.run, observed.measured
    if span is None or not (run.has("visits") and run.has("requests")):
        return (_kind(observed, came(entry), 1.0),)
    entries = run.manifest.topology.entries
    scatter = dispersion(map(came, entries), sent_ns, span)
    found = [_kind(observed, came(entry), scatter)]
    if scatter > WITH_FILES:
        further = {each: _went_further(observed, each) for each in {entry, *entries}}
        scatter = dispersion((further[each] for each in entries), sent_ns, span)
        if further[entry].size:
            found.append(_kind(observed, further[entry], scatter))
    return tuple(found)


def _kind(observed: Observed, at_ns: Ints, scatter: float) -> Arrivals:
    span = observed.measured
    return Arrivals(at_ns, 0.0 if span is None else usual(at_ns, span), scatter)


def _went_further(observed: Observed, server: str) -> Ints:
    """When visits came of which others were made below."""
    found = columns(
        observed.db,
        """SELECT arrival_ns AS t FROM visits WHERE server = $server
        AND visit IN (SELECT parent FROM visits) ORDER BY t""",
        {"server": server},
    )
    return found["t"].astype(np.int64)
