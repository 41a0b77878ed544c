"""Several threads say what one says: out of a file word for word, and live as it was captured."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tracer_bed import PAGES, Bed, Traced, dissect, table

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

SALTED = ["id_hash", "literals"]
OF_THE_SYSTEM = ("LOGIN", "PING", "CPING")
"""Health checks and the like, of which one capture may see one more than the other."""


def test_a_file_is_dissected_alike_by_any_number_of_threads(bed: Bed, tmp_path: Path) -> None:
    folders = {threads: tmp_path / str(threads) for threads in (1, 2, 3)}
    said = [dissect(bed.load(), out, threads) for threads, out in folders.items()]
    assert len({(one["packets"], one["visits"], one["connections"]) for one in said}) == 1
    visits, *others = (
        table(out / "raw_visits.arrows").drop_columns(SALTED) for out in folders.values()
    )
    assert visits.num_rows > 1_000
    assert visits["upstream"].null_count < visits.num_rows
    assert [other.equals(visits) for other in others] == [True, True]
    lines, *others_lines = (out / "messages.jsonl" for out in folders.values())
    assert [other.read_bytes() == lines.read_bytes() for other in others_lines] == [True, True]


def test_several_rings_capture_what_one_captures(bed: Bed) -> None:
    with bed.traced("one-ring") as one, bed.traced("three-rings", threads=3) as three:
        bed.browse(list(PAGES))
        bed.browse(list(PAGES), close=True)
    assert one.summary["drops"] == three.summary["drops"] == 0
    assert conversations(three) == conversations(one)
    visits = rows(three)
    assert len(set(visits["visit"].to_pylist())) == visits.num_rows
    upstream = {str(number) for number in at(visits, "lb.1")["connection"].to_pylist()}
    named = at(visits, "db.1")["upstream"].drop_null().to_pylist()
    assert named
    assert set(named) <= upstream


def rows(traced: Traced) -> pa.Table:
    return table(traced.folder / "raw_visits.arrows")


def at(visits: pa.Table, server: str) -> pa.Table:
    return visits.filter(pc.equal(visits["server"], server))


def conversations(traced: Traced) -> Counter[tuple[object, ...]]:
    """What was asked and answered on each connection, in its order."""
    columns = ("server", "label", "status", "bytes_in", "bytes_out")
    of_connection: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for row in rows(traced).to_pylist():
        if row["label"] not in OF_THE_SYSTEM:
            of_connection[row["connection"]].append(tuple(row[column] for column in columns))
    return Counter(tuple(visits) for visits in of_connection.values())
