"""What users noticed of a move: requests that overlap the silence, and those lost beside it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tierlab.analysis.comparing.changes import Change, changes
from tierlab.analysis.observed import Observed
from tierlab.analysis.requests.migration import Migration, migration
from tierlab.report.differences import change_words

Tiny = Callable[..., Observed]
S = 1_000_000_000
MS = 1_000_000
MOVE: dict[str, Any] = {
    "start_ns": 10 * S,
    "duration_ns": 4 * S,
    "silence": {"start_ns": 13 * S, "duration_ns": 150 * MS},
    "usual_silence_ns": 12 * MS,
    "echoes_lost": 13,
    "downtime_ns": 95 * MS,
    "copied_bytes": 100 << 20,
    "rounds": 3,
}


def request(start_ns: int, end_ns: int, error: str | None = None) -> dict[str, Any]:
    about = {"user": 0, "session": 0, "interaction": "home", "request_id": str(start_ns)}
    times = {"intended_ns": start_ns, "start_ns": start_ns, "end_ns": end_ns}
    return about | times | {"status": None if error else 200, "error": error}


def moved(tiny: Tiny, requests: list[dict[str, Any]]) -> Change:
    detail = {"asked": {"host": "second"}, "found": {"host": "second"}, "migration": MOVE}
    event = {"t_ns": 8 * S, "duration_ns": 7 * S, "kind": "change", "subject": "app.1"}
    events = [event | {"detail": json.dumps(detail)}]
    observed = tiny({"requests": requests, "events": events}, seconds=30.0)
    assert observed.measured is not None
    assert observed.whole is not None
    (change,) = changes(observed.db, observed.whole, observed.measured, observed.run.manifest)
    return change


def test_requests_are_told_by_whether_they_overlap_the_silence(tiny: Tiny) -> None:
    requests = [
        request(9 * S, 10 * S - 1, "timeout"),  # before it all
        request(11 * S, 12 * S, "reset"),  # copying already, and not silent yet
        request(12_900 * MS, 13_400 * MS),
        request(13_100 * MS, 13_300 * MS, "reset"),
        request(13_150 * MS, 14 * S),  # sent as the first answer came
        request(14_900 * MS, 15_900 * MS, "timeout"),
        request(15 * S, 16 * S, "timeout"),  # more than a second later
    ]

    found = moved(tiny, requests).migration

    assert found == Migration(
        took_s=4.0,
        downtime_s=0.095,
        copied_bytes=100 << 20,
        silence_s=0.15,
        usual_silence_s=0.012,
        echoes_lost=13,
        in_progress=2,
        slowest_s=0.5,
        lost=1,
        lost_beyond=2,
    )


def test_a_move_is_said_in_words(tiny: Tiny) -> None:
    words = change_words(moved(tiny, [request(12_900 * MS, 13_400 * MS)]))

    assert words.startswith(
        "8.0 s: app.1 got host second; it moved within 4 s, stood still for 95 ms and answered no"
        " echo for 150 ms (before, 12 ms at most); none of 1 requests in progress then lost, the"
        " slowest took 500 ms; none lost beyond that"
    )
    assert "; no request in progress then; none lost" in change_words(moved(tiny, []))


def test_what_is_not_told_is_not_zero(tiny: Tiny) -> None:
    observed = tiny({"requests": []}, seconds=30.0)

    found = migration(observed.db, MOVE | {"downtime_ns": None, "copied_bytes": None})

    assert found is not None
    assert (found.downtime_s, found.copied_bytes, found.slowest_s) == (None, None, None)
    assert migration(observed.db, None) is None
    assert migration(observed.db, {"silence": 3}) is None
