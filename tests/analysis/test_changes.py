"""What a change did: the stretch before it against the one after, and what is passed over."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tierlab.analysis.comparing.changes import Change, changes
from tierlab.analysis.observed import Observed
from tierlab.report.differences import change_words

Tiny = Callable[..., Observed]
S = 1_000_000_000
MS = 1_000_000


def request(number: int, start_ns: int, took_ns: int) -> dict[str, Any]:
    about = {"user": 0, "session": 0, "interaction": "home", "request_id": str(number)}
    return about | {"intended_ns": start_ns, "end_ns": start_ns + took_ns, "status": 200}


def change(at_ns: int, detail: str) -> dict[str, Any]:
    return {"t_ns": at_ns, "duration_ns": 0, "kind": "change", "subject": "db.1", "detail": detail}


def slower_from(at_ns: int) -> list[dict[str, Any]]:
    """Fifty requests a second for 24 s, which take twice as long from then on."""
    starts = [n * S // 50 for n in range(24 * 50)]
    return [
        request(n, start, (4 if start < at_ns else 8) * MS + n * 7919 % MS)
        for n, start in enumerate(starts)
    ]


def seen(observed: Observed) -> list[Change]:
    assert observed.measured is not None
    assert observed.whole is not None
    return changes(observed.db, observed.whole, observed.measured, observed.run.manifest)


def test_what_the_shape_of_the_load_did_is_no_change_s_doing(tiny: Tiny) -> None:
    """A ramp, in the middle of which a CPU was taken away: throughput was better by it."""
    detail = json.dumps({"asked": {"pus": [0]}, "found": {"pus": [0]}})
    curve = {"kind": "points", "curve": [[0, 50.0], [24 * S, 150.0]]}
    rows, events = slower_from(12 * S), [change(12 * S, detail)]
    load = {"rate": 150.0, "shape": curve}

    (found,) = seen(tiny({"requests": rows, "events": events}, seconds=24.0, load=load))

    assert found.differences is None
    assert found.why == "its load.shape asked for 75 requests/s before it and 127.1 after"


def test_what_a_log_asked_for_is_no_change_s_doing(tiny: Tiny) -> None:
    """The log of an evening that grows quiet, in which a CPU was taken away."""
    detail = json.dumps({"asked": {"pus": [0]}, "found": {"pus": [0]}})
    events = [change(12 * S, detail)]
    rows = [each for n, each in enumerate(slower_from(12 * S)) if n < 600 or n % 2]

    (found,) = seen(tiny({"requests": rows, "events": events}, seconds=24.0, load={"speed": 4}))

    assert found.differences is None
    assert found.why == "its log asked for 50 requests/s before it and 25 after"


def test_a_load_whose_shape_comes_round_again_is_the_same(tiny: Tiny) -> None:
    detail = json.dumps({"asked": {"pus": [0]}, "found": {"pus": [0]}})
    curve = [[n * S, 50.0 if n % 2 else 60.0] for n in range(25)]
    load = {"rate": 60.0, "shape": {"kind": "points", "curve": curve}}
    rows, events = slower_from(12 * S), [change(12 * S, detail)]

    (found,) = seen(tiny({"requests": rows, "events": events}, seconds=24.0, load=load))

    assert found.why is None


def test_a_change_is_compared_before_and_after(tiny: Tiny) -> None:
    detail = json.dumps({"asked": {"pus": [0]}, "found": {"pus": [0]}})
    events = [change(12 * S, detail)]
    observed = tiny({"requests": slower_from(12 * S), "events": events}, seconds=24.0)

    (found,) = seen(observed)

    assert (found.at_s, found.subject, found.asked) == (12.0, "db.1", {"pus": [0]})
    assert (found.before_s, found.after_s) == (12.0, 11.0)
    assert found.differences is not None
    verdicts = {each.measure: each.verdict for each in found.differences}
    assert verdicts["response time, by page"] == "worse"
    assert verdicts["throughput"] == "within noise"


def test_changes_at_the_same_moment_are_compared_as_one(tiny: Tiny) -> None:
    """One table for each server: milliseconds were between them, too few to compare."""
    detail = json.dumps({"asked": {"pus": [0]}, "found": {"pus": [0]}})
    first = change(12 * S, detail) | {"duration_ns": 30 * MS}
    events = [first, change(12_050 * MS, detail) | {"subject": "db.2", "duration_ns": 20 * MS}]
    observed = tiny({"requests": slower_from(12 * S), "events": events}, seconds=24.0)

    one, other = seen(observed)

    assert (one.at_s, other.at_s) == (12.0, 12.05)
    assert (one.subject, one.together) == ("db.1", ["db.2"])
    assert (other.subject, other.together) == ("db.2", ["db.1"])
    for each in (one, other):
        assert (each.before_s, each.after_s) == (12.0, 10.93)
    assert one.differences is not None
    assert one.differences == other.differences
    verdicts = {each.measure: each.verdict for each in one.differences}
    assert verdicts["response time, by page"] == "worse"
    assert "together with changes of db.2: response time, by page worse" in change_words(one)


def test_a_long_change_goes_on_until_its_end(tiny: Tiny) -> None:
    """A move of five seconds, after which the next change is made at once."""
    detail = json.dumps({"asked": {"pus": [0]}, "found": {"pus": [0]}})
    events = [change(8 * S, detail) | {"duration_ns": 5 * S}, change(13_500 * MS, detail)]
    observed = tiny({"requests": slower_from(12 * S), "events": events}, seconds=24.0)

    for each in seen(observed):
        assert (each.before_s, each.after_s) == (8.0, 9.5)
        assert each.differences is not None


def test_stretches_that_are_too_short_are_said_to_be(tiny: Tiny) -> None:
    detail = json.dumps({"asked": {"weight": 512}, "found": {"weight": 512}})
    events = [change(12 * S, detail), change(14 * S, detail)]
    observed = tiny({"requests": slower_from(12 * S), "events": events}, seconds=24.0)

    first, second = seen(observed)

    assert first.differences is None
    assert first.why == "1.0 s after it are too short to compare: 5 s are needed"
    assert second.why == "1.0 s before it are too short to compare: 5 s are needed"


def test_words_that_are_no_change_are_passed_over(tiny: Tiny) -> None:
    events = [change(S, text) for text in ("again", "[]", '{"asked": 3, "found": {}}')]
    observed = tiny({"requests": slower_from(0), "events": events}, seconds=24.0)
    assert observed.measured is not None

    assert seen(observed) == []
