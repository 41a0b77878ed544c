"""On a connection that stood already nobody waits for one, however long a reply takes."""

from __future__ import annotations

from pathlib import Path

from . import made_stall
from .made_stall import MS
from .signatures import SIGNATURES, diagnosed


def kept(folder: Path, reply_ns: int) -> Path:
    """The run as users had it who each kept a connection, with replies that took so long more."""
    rows = made_stall.read(folder, "requests")
    for row in rows:
        row |= {"connected_ns": None, "end_ns": row["end_ns"] + reply_ns}
        row["first_byte_ns"] = row["end_ns"]
    made_stall.write(folder, "requests", rows)
    return folder


def test_replies_on_kept_connections_are_no_waits_for_one(tmp_path: Path) -> None:
    """Each of them was: users of any healthy system with replies of 150 ms waited all the time."""
    found = diagnosed(kept(made_stall.make(tmp_path, None), 150 * MS))
    assert found.verdict == "nothing abnormal", found.words


def test_a_stall_behind_kept_connections_is_told_by_itself(tmp_path: Path) -> None:
    cause, subject, samples, extra = SIGNATURES["freeze of the database"]
    found = diagnosed(kept(made_stall.make(tmp_path, subject, samples, extra), 150 * MS))
    assert [(each.cause, each.subject) for each in found.findings] == [(cause, subject)]


def test_who_was_never_connected_waited_for_it(tmp_path: Path) -> None:
    """Ten users whose connection timed out after two seconds, kept connections or not."""
    folder = kept(made_stall.make(tmp_path, None), 0)
    rows = made_stall.read(folder, "requests")
    for row in rows[600:610]:
        row |= {"first_byte_ns": None, "status": None, "error": "connect_timeout"}
        row["end_ns"] = row["start_ns"] + 2_000 * MS
    made_stall.write(folder, "requests", rows)
    (finding,) = diagnosed(folder).findings
    assert (finding.subject, finding.delayed.count) == ("web.1", 10)
