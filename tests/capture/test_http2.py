"""HTTP/2's dissector: against Wireshark's, and against a service's own log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from beds import started
from http2_bed import SERVICE, Http2Bed
from tracer_bed import dissect, messages, table
from tshark import Connection, frames
from wire import Said, check_lossy, seen, told

from tests.figures import figure

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

TYPES = {
    "0": "DATA",
    "1": "HEADERS",
    "2": "PRIORITY",
    "3": "RST_STREAM",
    "4": "SETTINGS",
    "5": "PUSH_PROMISE",
    "6": "PING",
    "7": "GOAWAY",
    "8": "WINDOW_UPDATE",
    "9": "CONTINUATION",
}
SPOKEN = {*TYPES.values()} - {"PRIORITY"}
"""What client and server must have said, or less is checked than it seems."""
UNKNOWN = ("cut", "unknown")

ROUNDS = 12
CONNECTIONS = 3
ASKED = {
    "GET /item/{id}": (3, 200),
    "GET /missing": (1, 404),
    "GET /failed": (1, 500),
    "GET /early": (1, 200),
    "GET /pushed": (1, 200),
    "POST /form": (1, 200),
    "POST /shop.Orders/Get": (1, 404),
}
"""In each round of a connection, by label: how many, and the status. Others are reset."""

REQUESTS = 10_000
MOST_MISSED = 1e-4


@pytest.fixture(scope="module")
def bed() -> Iterator[Http2Bed]:
    with started(Http2Bed) as made:
        yield made


@pytest.fixture(scope="module")
def capture(bed: Http2Bed) -> Path:
    with bed.dumped("spoken") as path:
        bed.speak(ROUNDS)
    return path


def of_agent(capture: Path, out: Path) -> dict[Connection, list[Said]]:
    dissect(capture, out, servers=(SERVICE,))
    return told(messages(out), SERVICE, UNKNOWN)


def of_wireshark(capture: Path, _out: Path) -> dict[Connection, list[Said]]:
    found = frames(capture, {int(str(SERVICE["port"])): "http2"}, "http2", ["http2.type"])
    return seen(found, lambda _sender, value: TYPES.get(value))


def test_frames_end_where_wireshark_sees_them_end(capture: Path, tmp_path: Path) -> None:
    mine, oracle = of_agent(capture, tmp_path / "out"), of_wireshark(capture, tmp_path)
    assert {kind for said in mine.values() for _, _, kind in said} >= SPOKEN
    assert mine.keys() == oracle.keys()
    for connection, said in oracle.items():
        assert mine[connection] == said, connection
    figure(f"{sum(map(len, mine.values()))} frames of {len(mine)} connections")


def test_visits_have_the_pages_path_and_status(capture: Path, tmp_path: Path) -> None:
    dissect(capture, tmp_path / "out", servers=(SERVICE,))
    visits = table(tmp_path / "out" / "raw_visits.arrows").to_pylist()
    times = ROUNDS * CONNECTIONS
    found = Counter(visit["label"] for visit in visits)
    for label, (count, status) in ASKED.items():
        assert found[label] == count * times, found
        those = [visit for visit in visits if visit["label"] == label]
        assert {visit["status"] for visit in those} == {status}, label
        assert all(visit["departure_ns"] is not None for visit in those), label
    for label, given_up in {"GET /slow": False, "GET /reset": False, "GET /never": True}.items():
        departures = [visit["departure_ns"] for visit in visits if visit["label"] == label]
        assert [each is None for each in departures] == [given_up] * times, label
    assert all(len(visit["literals"]) == 3 for visit in visits if visit["label"] == "POST /form")
    assert sum(visit["id_hash"] is not None for visit in visits) == 9 * times


@pytest.mark.parametrize(("share", "seed"), [(0.002, 1), (0.01, 2), (0.05, 3)])
def test_with_packets_lost_nothing_is_invented(
    capture: Path, tmp_path: Path, share: float, seed: int
) -> None:
    check_lossy(capture, (share, seed), tmp_path, of_agent, of_wireshark)


def test_visits_are_as_many_as_the_services_log_has(bed: Http2Bed) -> None:
    before = len(bed.logged())
    with bed.capturing("counted") as summary:
        answered = bed.load(REQUESTS)
    written = bed.logged()[before:]
    visits = table(bed.folder / "counted" / "raw_visits.arrows")
    figure(f"{visits.num_rows} visits, {len(written)} lines, {summary}")
    assert summary["drops"] == 0
    assert answered == len(written) == REQUESTS
    assert abs(visits.num_rows - REQUESTS) <= MOST_MISSED * REQUESTS
    assert visits["departure_ns"].null_count == 0
    assert Counter(visits["label"].to_pylist()) == {"GET /item": visits.num_rows}
