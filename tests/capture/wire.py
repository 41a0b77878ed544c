"""What was said on a wire: as the agent tells it and as Wireshark does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tracer_bed import table
from tshark import Connection, Frame, retransmissions, without_some

from tests.figures import figure

Said = tuple[str, int, str]
"""Who, when its last byte came, and what."""
See = Callable[[Path, Path], dict[Connection, list[Said]]]
"""Reads a capture, with a folder to write to."""


def told(
    messages: Iterable[Mapping[str, Any]], server: Mapping[str, Any], unknown: Iterable[str] = ()
) -> dict[Connection, list[Said]]:
    """The agent's messages at one server, but for the unknown kinds, by connection."""
    address = f"{server['address']}:{server['port']}"
    found: dict[Connection, list[Said]] = defaultdict(list)
    for message in messages:
        if message["server"] == server["name"] and message["kind"] not in unknown:
            said = (message["from"], message["end_ns"], message["kind"])
            found[message["client"], address].append(said)
    return dict(found)


def seen(
    frames: Mapping[Connection, Iterable[Frame]], name: Callable[[str, str], str | None]
) -> dict[Connection, list[Said]]:
    """Wireshark's: the first field tells what each is; `name` translates it, or drops it."""
    found: dict[Connection, list[Said]] = defaultdict(list)
    for connection, of_connection in frames.items():
        for frame in of_connection:
            for value in frame.values[0]:
                kind = name(frame.sender, value)
                if kind is not None:
                    found[connection].append((frame.sender, frame.end_ns, kind))
    return dict(found)


def ends(folder: Path) -> set[tuple[str, int]]:
    """What was asked and when its reply's last byte came, of each visit that was seen to end."""
    visits = table(folder / "raw_visits.arrows").select(["label", "departure_ns"]).to_pylist()
    ended = (visit for visit in visits if visit["departure_ns"] is not None)
    return {(visit["label"], visit["departure_ns"]) for visit in ended}


def check_lossy(
    capture: Path, loss: tuple[float, int], out: Path, agent: See, wireshark: See
) -> None:
    """Take a share of the frames out of a capture: what is seen of the rest must be true.

    Every message in the lossy capture is one of the whole capture, with the same end, and so is
    every visit. Where a segment is gone and only its retransmission is left, that is its time.
    """
    share, seed = loss
    left = without_some(capture, share, seed, out / "lossy.pcap")
    again = retransmissions(capture)
    whole, found = marks(agent(capture, out / "whole")), marks(agent(left, out / "lossy"))
    made_up = {mark for mark in found - whole if mark[2] not in again}
    assert not made_up, sorted(made_up)[:5]
    true, mine = ends(out / "whole"), ends(out / "lossy")
    wrong = {end for end in invented(mine, true) if end[1] not in again}
    assert not wrong, sorted(wrong)[:5]
    oracle = marks(wireshark(left, out)) & whole
    figure(
        f"{len(found)} of {len(whole)} messages with {share:.1%} lost, {len(oracle)} for "
        f"Wireshark, {len(oracle - found)} of them others; {len(mine)} of {len(true)} visits have "
        "their end"
    )
    assert len(found) >= (1 - 6 * share) * len(whole)


UNLABELLED = {"EXECUTE", "(incomplete)"}
"""Labels of visits of which what was asked went by unseen."""


def invented(found: set[tuple[str, int]], whole: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """Ends of visits that the whole capture does not have."""
    times = {time for _, time in whole}
    return {
        (label, time)
        for label, time in found - whole
        if label not in UNLABELLED or time not in times
    }


def marks(said: Mapping[Connection, Iterable[Said]]) -> set[tuple[Connection, str, int, str]]:
    """Everything that was said, whoever else said the like."""
    return {(connection, *one) for connection, all_of_it in said.items() for one in all_of_it}
