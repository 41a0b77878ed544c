"""The dissectors against Wireshark's: the same messages, in the same order, with the same ends."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from tracer_bed import Bed, dissect, messages
from tshark import Connection, frames, mysql_turns, retransmissions, without_some

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

HTTP_PORT, AJP_PORT, MYSQL_PORT = 8080, 8009, 3306
COMMANDS = {
    "COM_QUIT": 0x01,
    "COM_INIT_DB": 0x02,
    "COM_QUERY": 0x03,
    "COM_PING": 0x0E,
    "COM_STMT_PREPARE": 0x16,
    "COM_STMT_EXECUTE": 0x17,
    "COM_STMT_CLOSE": 0x19,
    "COM_STMT_RESET": 0x1A,
    "COM_STMT_FETCH": 0x1C,
    "COM_SET_OPTION": 0x1B,
    "COM_RESET_CONNECTION": 0x1F,
}
AJP_CODES = {
    "FORWARD_REQUEST": "2",
    "SEND_BODY_CHUNK": "3",
    "SEND_HEADERS": "4",
    "END_RESPONSE": "5",
    "GET_BODY_CHUNK": "6",
    "CPONG": "9",
    "CPING": "10",
}

UNKNOWN = {"unasked", "data", "BODY", "unknown", "cut"}
"""Kinds of messages of which not everything was seen, or need not have been."""

Message = dict[str, Any]


def by_connection(found: list[Message], protocol: str) -> dict[Connection, list[Message]]:
    """The agent's messages of a protocol, each connection's in the order of their ends."""
    ports = {"http1": HTTP_PORT, "ajp13": AJP_PORT, "mysql": MYSQL_PORT}
    addresses = {"web.1": "127.0.1.1", "app.1": "127.0.2.1", "lb.1": "127.0.3.1"}
    grouped: dict[Connection, list[Message]] = defaultdict(list)
    for message in found:
        if message["protocol"] == protocol:
            address = addresses.get(message["server"], "127.0.4.1")
            grouped[message["client"], f"{address}:{ports[protocol]}"].append(message)
    return dict(grouped)


@pytest.fixture(scope="module")
def seen(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> list[Message]:
    """The agent's messages in the capture of the whole load."""
    out = tmp_path_factory.mktemp("seen") / "out"
    summary = dissect(bed.load(), out)
    assert summary["packets"] > 2_000
    return messages(out)


def http_ends(bed_capture: Path) -> dict[Connection, list[tuple[str, int]]]:
    """Of the web server's connections: where the application server's archive of classes is made
    first, it is asked for a page, too.
    """
    fields = ["http.request.method", "http.response.code"]
    found = frames(bed_capture, {HTTP_PORT: "http"}, "http", fields)
    return {
        connection: [
            (frame.sender, frame.end_ns)
            for frame in of_connection
            for _ in frame.values[0] + frame.values[1]
        ]
        for connection, of_connection in found.items()
        if connection[1] == f"127.0.1.1:{HTTP_PORT}"
    }


def test_http_messages_end_where_wireshark_sees_them_end(bed: Bed, seen: list[Message]) -> None:
    oracle = http_ends(bed.load())
    mine = {
        connection: [(message["from"], message["end_ns"]) for message in of_connection]
        for connection, of_connection in by_connection(seen, "http1").items()
    }
    assert sum(map(len, oracle.values())) > 300
    assert mine == oracle


def test_ajp_messages_end_where_wireshark_sees_them_end(bed: Bed, seen: list[Message]) -> None:
    oracle = frames(bed.load(), {AJP_PORT: "ajp13"}, "ajp13", ["ajp13.magic", "ajp13.code"])
    mine = by_connection(seen, "ajp13")
    assert mine.keys() == oracle.keys()
    checked = 0
    for connection, of_connection in oracle.items():
        # A packet of a request's body has no code.
        ends = [(it.sender, it.end_ns) for it in of_connection for _ in it.values[0]]
        codes = [(it.sender, it.end_ns, code) for it in of_connection for code in it.values[1]]
        found = mine[connection]
        assert [(it["from"], it["end_ns"]) for it in found] == ends
        mine_coded = [
            (it["from"], it["end_ns"], AJP_CODES[it["kind"]])
            for it in found
            if it["kind"] != "BODY"
        ]
        # Wireshark 4.0 takes the request after a body of several packets for more of the body.
        taken_for_body = [it for it in mine_coded if it not in codes]
        assert all(it[2] == AJP_CODES["FORWARD_REQUEST"] for it in taken_for_body)
        assert [it for it in mine_coded if it not in taken_for_body] == codes
        checked += len(ends)
    assert checked > 500


def test_mysql_messages_end_where_wireshark_sees_them_end(bed: Bed, seen: list[Message]) -> None:
    oracle = frames(bed.load(), {MYSQL_PORT: "mysql"}, "mysql", ["mysql.command"])
    mine = by_connection(seen, "mysql")
    assert mine.keys() == oracle.keys()
    numbers: set[int] = set()
    for connection, of_connection in oracle.items():
        turns = list(mysql_turns(of_connection))
        commands = [
            (it["end_ns"], COMMANDS[it["kind"]])
            for it in mine[connection]
            if it["kind"] in COMMANDS
        ]
        assert commands == [command for turn in turns for command in turn.commands]
        numbers |= {number for _, number in commands}
        begun = commands[0][0] if commands else 0
        replies = [
            it["end_ns"]
            for it in mine[connection]
            if it["kind"] == "reply" and it["end_ns"] > begun
        ]
        for turn in turns:
            answers, replies = replies[: turn.answers], replies[turn.answers :]
            assert len(answers) == turn.answers, (connection, turn)
            if turn.answers:
                assert answers[-1] == turn.answered_ns, (connection, turn)
        assert replies == []
    assert {0x01, 0x03, 0x0E, 0x16, 0x17, 0x19} <= numbers


@pytest.mark.parametrize(("share", "seed"), [(0.002, 1), (0.01, 2), (0.05, 3)])
def test_with_packets_lost_nothing_is_invented_and_what_wireshark_finds_is_found(
    bed: Bed, seen: list[Message], tmp_path: Path, share: float, seed: int
) -> None:
    """Every message in the lossy capture is one of the whole capture, with the same end.

    And every message of the whole capture that Wireshark finds in the lossy one is found.
    """
    lossy = without_some(bed.load(), share, seed, tmp_path / "lossy.pcap")
    # Where a segment is gone and only its retransmission is left, that is its time for everyone.
    again = retransmissions(bed.load())
    dissect(lossy, tmp_path / "out")
    found = messages(tmp_path / "out")
    for protocol in ("http1", "ajp13", "mysql"):
        true, mine = marks(seen, protocol), marks(found, protocol)
        invented = {mark for mark in mine - true if mark[-1] not in again}
        assert not invented, sorted(invented)[:5]
        assert len(mine) >= (1 - 6 * share) * len(true)
    true, mine = ends(seen, "http1"), ends(found, "http1")
    oracle = {(connection, *end) for connection, found in http_ends(lossy).items() for end in found}
    assert oracle & true <= mine, sorted(oracle & true - mine)[:5]


def marks(found: list[Message], protocol: str) -> set[tuple[Connection, str, str, int]]:
    """Who ended which message when, but for those whose kind could not be told."""
    return {
        (connection, message["from"], message["kind"], message["end_ns"])
        for connection, of_connection in by_connection(found, protocol).items()
        for message in of_connection
        if message["kind"] not in UNKNOWN
    }


def ends(found: list[Message], protocol: str) -> set[tuple[Connection, str, int]]:
    return {(connection, sender, end) for connection, sender, _, end in marks(found, protocol)}
