"""Ctrl-C while a query runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

SAID_BY_DUCKDB = "Query interrupted"


@contextmanager
def interruptible_queries() -> Iterator[None]:
    """While this lasts, Ctrl-C raises :class:`KeyboardInterrupt` within a query too.

    DuckDB takes the signal for itself then, and raises a RuntimeError that only its text tells from
    others.
    """
    try:
        yield
    except RuntimeError as error:
        if str(error) != SAID_BY_DUCKDB:
            raise
        raise KeyboardInterrupt from error
