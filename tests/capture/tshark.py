"""What Wireshark's dissectors see in a capture file: the oracle for the agent's."""

from __future__ import annotations

import functools
import random
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Connection = tuple[str, str]
"""The client's and the server's address, each with its port."""

NO_REPLY = {1, 0x18, 0x19}
"""COM_QUIT, COM_STMT_SEND_LONG_DATA, COM_STMT_CLOSE."""


@dataclass(frozen=True)
class Frame:
    """A frame in which at least one message ends."""

    end_ns: int
    sender: str
    values: tuple[tuple[str, ...], ...]
    """For each field that was asked for, its values in this frame."""


def frames(
    capture: Path, ports: dict[int, str], protocol: str, fields: Sequence[str]
) -> dict[Connection, list[Frame]]:
    """Every frame with the protocol, by connection, in the order of capture."""
    command = ["tshark", "-n", "-r", str(capture), "-Y", protocol, "-T", "fields"]
    command += ["-E", "separator=/t", "-E", "aggregator=,"]
    for port, name in ports.items():
        command += ["-d", f"tcp.port=={port},{name}"]
    where = ["frame.time_epoch", "ip.src", "tcp.srcport", "ip.dst", "tcp.dstport"]
    for field in [*where, *fields]:
        command += ["-e", field]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    found: dict[Connection, list[Frame]] = defaultdict(list)
    for line in said.stdout.splitlines():
        time, source, from_port, destination, to_port, *rest = line.split("\t")
        ends = (f"{source}:{from_port}", f"{destination}:{to_port}")
        server = int(from_port) in ports
        values = tuple(tuple(value.split(",")) if value else () for value in rest)
        frame = Frame(nanoseconds(time), "server" if server else "client", values)
        found[ends[::-1] if server else ends].append(frame)
    return dict(found)


@functools.cache
def retransmissions(capture: Path) -> set[int]:
    """When segments were sent again."""
    command = ["tshark", "-n", "-r", str(capture), "-Y", "tcp.analysis.retransmission"]
    command += ["-T", "fields", "-e", "frame.time_epoch"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return {nanoseconds(time) for time in said.stdout.split()}


def nanoseconds(time: str) -> int:
    """Read tshark's seconds since the epoch, which have nine decimals."""
    seconds, _, part = time.partition(".")
    return int(seconds) * 1_000_000_000 + int(part.ljust(9, "0"))


@dataclass(frozen=True)
class Turn:
    """Commands sent one after the other, and the last byte of what was answered to them."""

    commands: tuple[tuple[int, int], ...]
    """Time and number."""
    answers: int
    """How many of them have an answer."""
    answered_ns: int | None


def mysql_turns(frames_of_connection: Sequence[Frame]) -> Iterator[Turn]:
    """Cut a connection's frames (with ``mysql.command``) into turns."""
    commands: list[tuple[int, int]] = []
    answered_ns: int | None = None
    for frame in frames_of_connection:
        numbers = [int(value) for value in frame.values[0]]
        if frame.sender == "server":
            answered_ns = frame.end_ns if commands else None
            continue
        if numbers and answered_ns is not None:
            yield turn(commands, answered_ns)
            commands, answered_ns = [], None
        commands += [(frame.end_ns, number) for number in numbers]
    if commands:
        yield turn(commands, answered_ns)


def turn(commands: Sequence[tuple[int, int]], answered_ns: int | None) -> Turn:
    answers = sum(number not in NO_REPLY for _, number in commands)
    return Turn(tuple(commands), answers, answered_ns)


def without_some(capture: Path, share: float, seed: int, out: Path) -> Path:
    """Write the capture without a share of its frames, chosen by the seed."""
    command = ["capinfos", "-c", "-M", "-T", "-r", str(capture)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    count = int(said.stdout.split("\t")[1])
    chosen = random.Random(seed).sample(range(1, count + 1), max(1, round(share * count)))
    previous = capture
    # editcap takes up to 512 selections at once; the last frames go first.
    ordered = sorted(chosen, reverse=True)
    for start in range(0, len(ordered), 500):
        step = out.with_suffix(f".{start}.pcap")
        numbers = [str(number) for number in ordered[start : start + 500]]
        command = ["editcap", "-F", "nsecpcap", str(previous), str(step), *numbers]
        subprocess.run(command, check=True, timeout=120, capture_output=True)
        if previous != capture:
            previous.unlink()
        previous = step
    return previous.rename(out)
