"""Take small captures out of a large one, with what Wireshark sees in them beside.

    pytest tests/capture/test_messages.py --basetemp=FOLDER
    python tests/capture/small_captures.py FOLDER/tracer0/load.pcap FOLDER_OF_THE_CAPTURES

One for each protocol that is spoken in it: PostgreSQL, FastCGI, HTTP/2 and the caches are
in their own tests, HTTP/2 with little content (SIZE of its client).

The agent's own tests hold its dissectors against those in `agent/crates/capture/tests/wireshark`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROTOCOLS = {
    "http1": (8080, "http", ["http.request.method", "http.response.code"]),
    "ajp13": (8009, "ajp13", ["ajp13.magic"]),
    "mysql": (3306, "mysql", ["mysql.command"]),
    "postgresql": (5432, "pgsql", ["pgsql.type"]),
    "fastcgi": (9000, "fcgi", ["fcgi.type"]),
    "http2": (8000, "http2", ["http2.type"]),
    "memcached": (11211, "memcache", ["memcache.command"]),
    "memcached-binary": (11211, "memcache", ["memcache.opcode"]),
    "redis": (6379, "resp", ["resp.string", "resp.error"]),
}
"""Port, Wireshark's name for the protocol, and its fields of which each message has one."""

MOST_BYTES = 12_000
"""Of one connection's beginning."""

CONNECTIONS = 2


def fields(capture: Path, port: int, protocol: str, shown: str, names: list[str]) -> list[str]:
    """What tshark says of each frame, a line for each."""
    command = ["tshark", "-n", "-r", str(capture), "-d", f"tcp.port=={port},{protocol}"]
    command += ["-Y", shown, "-T", "fields", "-E", "aggregator=,"]
    for name in names:
        command += ["-e", name]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return said.stdout.splitlines()


def chosen(capture: Path, port: int, protocol: str, names: list[str]) -> list[str]:
    """Numbers of the frames with which those connections begin that say most in few bytes."""
    columns = ["frame.number", "tcp.stream", "frame.len", *names]
    beginnings: dict[str, list[str]] = {}
    used: dict[str, int] = {}
    messages: dict[str, int] = {}
    for line in fields(capture, port, protocol, f"tcp.port=={port}", columns):
        number, stream, length, *values = line.split("\t")
        used[stream] = used.get(stream, 0) + int(length)
        if used[stream] <= MOST_BYTES:
            beginnings.setdefault(stream, []).append(number)
            ends = sum(len(value.split(",")) for value in values if value)
            messages[stream] = messages.get(stream, 0) + ends
    best = sorted(messages, key=lambda stream: -messages[stream])[:CONNECTIONS]
    return [number for stream in best for number in beginnings[stream]]


def take(capture: Path, out: Path) -> None:
    """Write a capture and tshark's view of it for each protocol that is spoken there."""
    where = ["frame.time_epoch", "tcp.srcport", "tcp.dstport"]
    for name, (port, protocol, names) in PROTOCOLS.items():
        small = out / f"{name}.pcap"
        frames = chosen(capture, port, protocol, names)
        if not frames:
            continue
        command = ["editcap", "-F", "nsecpcap", "-r", str(capture), str(small), *frames]
        subprocess.run(command, check=True, timeout=120, capture_output=True)
        said = fields(small, port, protocol, protocol, [*where, *names])
        (out / f"{name}.tsv").write_text("\n".join(["\t".join([*where, *names]), *said, ""]))


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
