"""Dates of a recording's entries: in any form, missing, or of a clock that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.own.made_recordings import ODD, WHOLE, among, asked, thinks, written
from tests.own.test_recorded import entry
from tierlab.workloads.own.recorded import notes
from tierlab.workloads.own.steps import LONGEST_THINK_S


@pytest.mark.parametrize(
    "date",
    [
        "2026-01-01T00:00:06.000Z",
        "2026-01-01T00:00:06.1234567+00:00",
        "2026-01-01T01:00:06+0100",
        "2026-01-01T01:00:06.5 +01:00",
        "2026-01-01 00:00:06",
        "2026-01-01t00:00:06z",
        "2026-01-01T00:00:06,250",
        "Thu, 01 Jan 2026 00:00:06 GMT",
        "Thursday, 01-Jan-26 00:00:06 GMT",
        "Thu Jan 01 2026 01:00:06 GMT+0100 (CET)",
        "/Date(1767225606000)/",
        1767225606,
        1767225606.25,
        1767225606000,
        1767225606000000,
        1767225606000000000,
        "1767225606000",
    ],
)
def test_dates_are_read_in_any_usual_form(tmp_path: Path, date: Any) -> None:
    file = written(tmp_path, *among(entry(ODD) | {"startedDateTime": date}))
    assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"]
    assert all(2 < each < 4 for each in thinks(file)), thinks(file)
    assert notes([file]) == []


@pytest.mark.parametrize(
    "date",
    ["", None, "now", "10/5/2021 9:03 AM", 0, -5, True, [], {}, "2026-13-01T00:00:00Z", 1e30],
)
def test_what_has_no_date_keeps_its_place_and_is_told(tmp_path: Path, date: Any) -> None:
    for at in (0, 2, 4):
        entries = among(entry(ODD))
        entries[at]["startedDateTime"] = date
        file = written(tmp_path, *entries)
        assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"], at
        assert max(thinks(file)) < 7
        (note,) = notes([file])
        assert f"1 of 5 requests cannot be dated (entry {at + 1} has {date!r})" in note


def test_a_recording_without_dates_is_in_the_file_s_order(tmp_path: Path) -> None:
    file = written(tmp_path, *[each | {"startedDateTime": ""} for each in among()])
    assert asked(file) == WHOLE
    assert thinks(file) == [0, 0, 0, 0]
    assert "4 of 4 requests cannot be dated" in notes([file])[0]


@pytest.mark.parametrize(
    "date",
    [
        "2021-10-05T09:03:50Z",
        "0001-01-01T00:00:00",
        "1970-01-01T00:00:00Z",
        "2038-01-19T03:14:07Z",
        99,
    ],
)
@pytest.mark.parametrize("at", [0, 2, 4])
def test_a_clock_that_is_years_off_changes_neither_order_nor_pauses(
    tmp_path: Path, date: Any, at: int
) -> None:
    entries = among(entry(ODD))
    entries[at]["startedDateTime"] = date
    file = written(tmp_path, *entries)
    assert asked(file) == ["/", "/items", "/odd", "/cart", "/bye"]
    assert max(thinks(file)) < 4
    (note,) = notes([file])
    times = "2 times" if at == 2 else "once"
    assert f"the dates jump by more than a day {times} (entry {max(at, 1) + 1} has" in note


def test_entries_that_are_not_in_order_are_sorted_within_a_day(tmp_path: Path) -> None:
    first, second, third, fourth = among()
    assert asked(written(tmp_path, third, first, fourth, second)) == WHOLE


@pytest.mark.parametrize(("pause", "taken"), [("00:09:30", 570), ("02:30:00", LONGEST_THINK_S)])
def test_a_long_pause_is_a_think_time_of_ten_minutes(
    tmp_path: Path, pause: str, taken: int
) -> None:
    late = entry({"url": "http://h/late"}) | {"startedDateTime": f"2026-01-01T{pause}Z", "time": 0}
    file = written(tmp_path, entry({"url": "http://h/"}) | {"time": 0}, late)
    assert thinks(file) == [taken, taken]
    found = notes([file])
    assert (
        found == []
        if taken < LONGEST_THINK_S
        else "1 pause over 600 s (the longest of 9,000" in found[0]
    )
