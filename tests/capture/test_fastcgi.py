"""FastCGI's dissector: against Wireshark's, and against PHP-FPM's own access log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc
import pytest
from beds import started
from fastcgi_bed import PAGES, PHP, FastcgiBed
from tracer_bed import dissect, messages, table
from tshark import Connection, frames
from wire import Said, check_lossy, seen, told

from tests.figures import figure

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

TYPES = {
    "1": "BEGIN_REQUEST",
    "2": "ABORT_REQUEST",
    "3": "END_REQUEST",
    "4": "PARAMS",
    "5": "STDIN",
    "6": "STDOUT",
    "7": "STDERR",
    "8": "DATA",
    "9": "GET_VALUES",
    "10": "GET_VALUES_RESULT",
    "11": "UNKNOWN_TYPE",
}
SPOKEN = {"BEGIN_REQUEST", "PARAMS", "STDIN", "STDOUT", "STDERR", "END_REQUEST"}
"""What clients and server must have said, or less is checked than it seems."""
UNKNOWN = ("cut", "unknown")

MOST_MISSED = 1e-4


@pytest.fixture(scope="module")
def bed() -> Iterator[FastcgiBed]:
    with started(FastcgiBed) as made:
        yield made


@pytest.fixture(scope="module")
def capture(bed: FastcgiBed) -> Path:
    """Pages of all kinds over kept connections and others, and some by another client."""
    with bed.dumped("spoken") as path:
        bed.browse(PAGES * 5)
        bed.ask_directly()
    return path


def of_agent(capture: Path, out: Path) -> dict[Connection, list[Said]]:
    dissect(capture, out, servers=(PHP,))
    return told(messages(out), PHP, UNKNOWN)


def of_wireshark(capture: Path, _out: Path) -> dict[Connection, list[Said]]:
    found = frames(capture, {int(str(PHP["port"])): "fcgi"}, "fcgi", ["fcgi.type"])
    return seen(found, lambda _sender, value: TYPES.get(value))


def test_records_end_where_wireshark_sees_them_end(capture: Path, tmp_path: Path) -> None:
    mine, oracle = of_agent(capture, tmp_path / "out"), of_wireshark(capture, tmp_path)
    assert {kind for said in mine.values() for _, _, kind in said} >= SPOKEN
    assert mine.keys() == oracle.keys()
    for connection, said in oracle.items():
        assert mine[connection] == said, connection
    figure(f"{sum(map(len, mine.values()))} records of {len(mine)} connections")


def test_visits_have_the_pages_path_and_status(capture: Path, tmp_path: Path) -> None:
    dissect(capture, tmp_path / "out", servers=(PHP,))
    visits = table(tmp_path / "out" / "raw_visits.arrows").to_pylist()
    expected = Counter(
        (f"{method} {target.partition('?')[0].replace('/17', '/{id}').replace('/18', '/{id}')}")
        for method, target, _ in PAGES * 5
    )
    expected["GET /direct"] += 1
    assert Counter(visit["label"] for visit in visits) == expected
    statuses = {"/missing": 404, "/failed": 500, "/moved": 302}
    for visit in visits:
        wanted = next((it for end, it in statuses.items() if visit["label"].endswith(end)), 200)
        assert visit["status"] == wanted, visit
        assert visit["departure_ns"] is not None
        assert visit["label"] == "GET /direct" or visit["id_hash"] is not None


@pytest.mark.parametrize(("share", "seed"), [(0.002, 1), (0.01, 2), (0.05, 3)])
def test_with_packets_lost_nothing_is_invented(
    capture: Path, tmp_path: Path, share: float, seed: int
) -> None:
    check_lossy(capture, (share, seed), tmp_path, of_agent, of_wireshark)


def test_visits_are_as_many_as_the_access_log_has(bed: FastcgiBed) -> None:
    before = len(bed.logged())
    with bed.capturing("counted") as summary:
        for path in ("/kept/item?size=20000", "/item"):
            bed.load(path, 1)
    written = bed.logged()[before:]
    visits = table(bed.folder / "counted" / "raw_visits.arrows")
    figure(f"{visits.num_rows} visits, {len(written)} lines, {summary}")
    assert summary["drops"] == 0
    assert len(written) > 500
    # wrk leaves as it is over: what nginx then asked for in vain ends with the connection.
    assert visits["departure_ns"].null_count <= 8
    assert pc.unique(visits["status"].drop_null()).to_pylist() == [200]
    assert abs(visits.num_rows - len(written)) <= max(1, MOST_MISSED * len(written))
