"""Who calls whom, as the agent sees it while servers run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tierlab.deploy.system import Subject
from tierlab.errors import UserError
from tierlab.observe.agent import Spawn, Verb
from tierlab.topology import PROTOCOLS, TLS, Seen

READY_S = 15.0
FILES = {each.wire: name for name, each in PROTOCOLS.items()} | {TLS: TLS}
"""What files call the protocols that the agent tells apart."""


@dataclass(frozen=True)
class Party:
    """A server, as connections show it: where it listens, and its processes."""

    name: str
    address: str
    port: int
    pids: frozenset[int]
    has_own_address: bool = False
    """Whether its connections come from its address, as they do from a machine of its own."""


class CallObserver:
    """Has the agent look who calls whom. Where it cannot, the reason is kept in ``not_seen``; what
    it could not look at besides, in ``left_out``.
    """

    def __init__(self, folder: Path, logs: Path, spawn: Spawn) -> None:
        self._folder, self._logs, self._spawn = folder, logs, spawn
        self._verb: Verb | None = None
        self.not_seen: str | None = None
        self.left_out: str | None = None

    def start(self) -> None:
        """Begin to look, before the servers say their first words."""
        verb = Verb("calls", {}, self._folder, self._logs, self._spawn)
        try:
            verb.wait_ready(READY_S)
        except UserError as error:
            self.not_seen = str(error)
            verb.stop(grace=2)
            return
        self._verb = verb

    def stop(self) -> list[dict[str, Any]]:
        """End it; what was seen, as the agent tells it."""
        verb, self._verb = self._verb, None
        if verb is None:
            return []
        verb.stop()
        if verb.summary is None:
            self.not_seen = str(verb.failure())
            return []
        self.left_out = left_out(verb.summary["lost"])
        calls: list[dict[str, Any]] = verb.summary["calls"]
        return calls


def left_out(lost: Mapping[str, int]) -> str | None:
    """What the agent did not look at, in words; None where it looked at all."""
    parts = []
    if connections := lost["crowded_out"]:
        parts.append(
            f"{connections:,} connections or more: too many were open at once, and to whom they"
            " went is not told"
        )
    if packets := lost["drops"]:
        parts.append(
            f"{packets:,} packets, which came too fast: some connections may be missing, or what"
            " is spoken on them"
        )
    if connections := lost["unattributed"]:
        parts.append(
            f"{connections:,} connections whose process is not known: to search for it would have"
            " taken more of this machine's time than it may"
        )
    return "; ".join(parts) or None


def parties(subjects: Iterable[Subject]) -> list[Party]:
    """The servers of a trial that runs."""
    return [
        Party(
            each.name,
            each.endpoint.address,
            each.endpoint.port,
            frozenset() if each.guest else frozenset(each.pids),
            has_own_address=each.guest,
        )
        for each in subjects
    ]


def seen(
    calls: Iterable[Mapping[str, Any]], servers: Sequence[Party], *, alone: bool = False
) -> list[Seen]:
    """The calls of these servers. What others call, as users do, and what a server says to itself,
    is left out; also what is not known whose it is, unless they are `alone` on their network.
    """
    found: dict[tuple[object, ...], Seen] = {}
    for call in calls:
        caller = _caller(call, servers)
        address, port = place(call["server"])
        callee = _callee(address, port, call["listeners"], servers)
        is_others = caller is None and (call["pids"] or not alone)
        if is_others or (caller is not None and caller == callee):
            continue
        each = Seen(
            caller,
            callee,
            address,
            port,
            FILES.get(call["protocol"]),
            call["connections"],
            call["refused"],
            call["spoken"],
        )
        key = (caller, callee, address, port, each.protocol)
        found[key] = _together(found[key], each) if key in found else each
    return sorted(found.values(), key=lambda each: (each.caller or "", each.address, each.port))


def place(text: str) -> tuple[str, int]:
    """Address and port of `127.0.0.1:80` or `[::1]:80`."""
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port)


def _together(one: Seen, other: Seen) -> Seen:
    return replace(
        one,
        connections=one.connections + other.connections,
        refused=one.refused + other.refused,
        spoken=one.spoken + other.spoken,
    )


def _caller(call: Mapping[str, Any], servers: Sequence[Party]) -> str | None:
    for each in servers:
        if each.has_own_address and each.address == call["client"]:
            return each.name
    return _of(call["pids"], servers)


def _of(line: Sequence[int], servers: Sequence[Party]) -> str | None:
    """The server that a process belongs to, by itself or by the nearest that started it."""
    for pid in line:
        for each in servers:
            if pid in each.pids:
                return each.name
    return None


def _callee(address: str, port: int, line: Sequence[int], servers: Sequence[Party]) -> str | None:
    there = next((s.name for s in servers if (s.address, s.port) == (address, port)), None)
    return there or _of(line, servers)
