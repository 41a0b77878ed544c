"""How long a visit that was not seen to leave stands in its server's queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

from tierlab.analysis.observed import Observed, observe
from tierlab.analysis.queues.own_gaps import own_gaps
from tierlab.tables.run import Run

from .conftest import Tiny

MS = 1_000_000


def visit(number: int, connection: int, **times_ms: int) -> dict[str, Any]:
    times = {name: at_ms * MS for name, at_ms in times_ms.items()}
    arrival_ns = times["arrival_ns"]
    named = {"server": "web.1", "connection": connection, "label": "GET /"}
    return named | {"visit": number, "request_end_ns": arrival_ns, "departure_ns": None} | times


CUT = [visit(n, n, arrival_ns=100, closed_ns=300) for n in range(1, 201)]
"""A restart: two hundred connections are broken off with a request each."""

HELD = [visit(201, 201, arrival_ns=200), visit(202, 202, arrival_ns=250, departure_ns=260)]
"""A frozen server's one request, and one that is answered."""


def at(observed: Observed, *times_ms: int) -> list[int]:
    return observed.in_progress["web.1"].at(np.array(times_ms) * MS).tolist()


def test_requests_of_connections_that_are_over_are_in_no_queue(tiny: Tiny) -> None:
    """They were until the trial's end: after a restart the queue was never empty again."""
    observed = tiny({"visits": [*CUT, *HELD]})
    assert at(observed, 150, 255, 301, 900) == [200, 202, 1, 1]


def test_who_was_not_answered_waited_until_somebody_was(tiny: Tiny) -> None:
    """A restart of 400 ms: those whom it cut off had been gone at once, and it had no name."""
    later = visit(203, 203, arrival_ns=290, departure_ns=700)
    observed = tiny({"visits": [*CUT, later]})
    assert observed.measured is not None
    gaps = own_gaps(observed.db, observed.measured, 20 * MS)
    assert set((gaps.end_ns[gaps.start_ns == 100 * MS] // MS).tolist()) == {700}


def test_a_connection_that_is_used_again_before_it_is_over_had_answered(tiny: Tiny) -> None:
    first = visit(1, 1, arrival_ns=100, closed_ns=800)
    observed = tiny({"visits": [first, visit(2, 1, arrival_ns=400, departure_ns=500)]})
    assert at(observed, 399, 450, 600) == [1, 1, 0]


def test_a_folder_from_before_the_column_holds_them_to_the_end(tiny: Tiny, tmp_path: Path) -> None:
    tiny({"visits": [*CUT, *HELD]})
    path = tmp_path / "visits.parquet"
    parquet.write_table(parquet.read_table(path).drop_columns(["closed_ns"]), path)
    assert at(observe(Run(tmp_path)), 150, 301, 900) == [200, 201, 201]
