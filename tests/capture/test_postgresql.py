"""PostgreSQL's dissector: against Wireshark's, and against the server's own count of statements."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc
import pytest
from beds import started
from postgresql_bed import DB, PIPELINE, PostgresqlBed
from tracer_bed import dissect, messages, table
from tshark import Connection, frames
from wire import Said, check_lossy, seen, told

from tests.figures import figure

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

REQUESTS = {
    "Bind": "Bind",
    "CancelRequest": "CancelRequest",
    "Cancel request": "CancelRequest",
    "Close": "Close",
    "Copy completion": "CopyDone",
    "Copy data": "CopyData",
    "Copy failure": "CopyFail",
    "Describe": "Describe",
    "Execute": "Execute",
    "Flush": "Flush",
    "Function call": "FunctionCall",
    "Parse": "Parse",
    "SASLInitialResponse message": "AuthenticationResponse",
    "SASLResponse message": "AuthenticationResponse",
    "Simple query": "Query",
    "SSL request": "SSLRequest",
    "Startup message": "StartupMessage",
    "Sync": "Sync",
    "Termination": "Terminate",
}
REPLIES = {
    "Authentication request": "Authentication",
    "Backend key data": "BackendKeyData",
    "Bind completion": "BindComplete",
    "Close completion": "CloseComplete",
    "Command completion": "CommandComplete",
    "Copy completion": "CopyDone",
    "Copy data": "CopyData",
    "CopyIn response": "CopyInResponse",
    "CopyOut response": "CopyOutResponse",
    "Copy in response": "CopyInResponse",
    "Copy out response": "CopyOutResponse",
    "Data row": "DataRow",
    "Empty query": "EmptyQueryResponse",
    "Error": "ErrorResponse",
    "Function call response": "FunctionCallResponse",
    "No data": "NoData",
    "Notice": "NoticeResponse",
    "Notification": "NotificationResponse",
    "Parameter description": "ParameterDescription",
    "Parameter status": "ParameterStatus",
    "Parse completion": "ParseComplete",
    "Portal suspended": "PortalSuspended",
    "Ready for query": "ReadyForQuery",
    "Row description": "RowDescription",
}
SPOKEN = {
    *("StartupMessage", "SSLRequest", "CancelRequest", "AuthenticationResponse", "Query", "Parse"),
    *("Bind", "Describe", "Execute", "Sync", "FunctionCall", "CopyData", "CopyDone", "Terminate"),
    *("RowDescription", "DataRow", "CommandComplete", "ErrorResponse", "NoticeResponse"),
    *("NotificationResponse", "CopyInResponse", "CopyOutResponse", "FunctionCallResponse"),
}
"""What the clients must have said and been told, or less is checked than it seems."""
UNKNOWN = ("cut", "refusal", "unknown")
"""Kinds that Wireshark has no like of: of these not everything was seen, or it is a single byte."""

COUNTED = ("SELECT", "INSERT", "UPDATE")
"""What the server counts. (Its 15th version counts a prepared BEGIN or END only once.)"""
MOST_MISSED = 1e-4


@pytest.fixture(scope="module")
def bed() -> Iterator[PostgresqlBed]:
    with started(PostgresqlBed) as made:
        yield made


@pytest.fixture(scope="module")
def capture(bed: PostgresqlBed) -> Path:
    """Everything that clients and server can say in clear."""
    with bed.dumped("spoken") as path:
        bed.speak()
    return path


def of_agent(capture: Path, out: Path) -> dict[Connection, list[Said]]:
    dissect(capture, out, servers=(DB,))
    return told(messages(out), DB, UNKNOWN)


def of_wireshark(capture: Path, _out: Path) -> dict[Connection, list[Said]]:
    found = frames(capture, {int(str(DB["port"])): "pgsql"}, "pgsql", ["pgsql.type"])
    return seen(found, name)


def name(sender: str, kind: str) -> str:
    return (REQUESTS if sender == "client" else REPLIES).get(kind, kind)


def test_messages_end_where_wireshark_sees_them_end(capture: Path, tmp_path: Path) -> None:
    mine, oracle = of_agent(capture, tmp_path / "out"), of_wireshark(capture, tmp_path)
    assert {kind for said in mine.values() for _, _, kind in said} >= SPOKEN
    assert mine.keys() == oracle.keys()
    for connection, said in oracle.items():
        assert mine[connection] == said, connection
    figure(f"{sum(map(len, mine.values()))} messages of {len(mine)} connections")


@pytest.mark.parametrize(("share", "seed"), [(0.002, 1), (0.01, 2), (0.05, 3)])
def test_with_packets_lost_nothing_is_invented(
    capture: Path, tmp_path: Path, share: float, seed: int
) -> None:
    check_lossy(capture, (share, seed), tmp_path, of_agent, of_wireshark)


def test_visits_are_as_many_as_the_server_counts_statements(bed: PostgresqlBed) -> None:
    counted = "SELECT sum(calls) FROM pg_stat_statements"
    with bed.capturing("counted") as summary:
        before = int(bed.ask(counted))
        for way in ("simple", "extended", "prepared"):
            bed.pgbench("-M", way, "-c", "8", "-T", "1", "-S")
            bed.pgbench("-M", way, "-c", "8", "-t", "50")
        bed.pgbench("-M", "prepared", "-c", "8", "-t", "100", script=PIPELINE)
        after = int(bed.ask(counted))
    assert summary["drops"] == 0
    visits = table(bed.folder / "counted" / "raw_visits.arrows")
    assert visits["departure_ns"].null_count == 0
    assert pc.unique(visits["status"]).to_pylist() == [0]
    labels = visits["label"].to_pylist()
    statements = [label for label in labels if label.upper().startswith(COUNTED)]
    # The second question has its own answer behind it, the first is among those it counts.
    calls = after - before + 1
    figure(f"{len(statements)} visits, {calls} calls, {summary}")
    assert calls > 2_000
    assert abs(len(statements) - calls) <= max(1, MOST_MISSED * calls)


def test_what_is_encrypted_is_named_and_seen_in_turns(bed: PostgresqlBed) -> None:
    bed.ask("ALTER SYSTEM SET ssl = on")
    bed.ask("SELECT pg_reload_conf()")
    with bed.capturing("encrypted") as summary:
        for _ in range(3):
            assert bed.ask("SELECT 'in secret'", "PGSSLMODE=require").strip() == "in secret"
        bed.ask("SELECT 'in clear'", "PGSSLMODE=disable")
    assert summary["drops"] == 0
    events = table(bed.folder / "encrypted" / "capture.events.arrows").to_pylist()
    opaque = [json.loads(event["detail"]) for event in events if event["kind"] == "opaque"]
    assert [detail["reason"] for detail in opaque] == ["tls"] * 3
    labels = table(bed.folder / "encrypted" / "raw_visits.arrows")["label"].to_pylist()
    # At least the handshake, the login and the question take turns.
    assert labels.count("tls") >= 9
    assert {label for label in labels if label != "tls"} == {"LOGIN", "SELECT ?"}
