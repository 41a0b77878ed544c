"""The servers behind one that runs already on this host, found along their connections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

from tierlab.environments.listeners import ANY, MANAGER, listeners, listeners_at
from tierlab.experiment.own_template import FRONT
from tierlab.observe.calls import Party, place, seen
from tierlab.observe.followed_sockets import SocketCall, called, new_at_sockets
from tierlab.topology import Seen, spoken, usual_at

MOST_LETTERS = 12


@dataclass(frozen=True)
class Front:
    """Where the server listens that users call."""

    address: str
    port: int


@dataclass(frozen=True)
class Standing:
    """A server that runs, and whom it was seen to call."""

    name: str
    address: str
    """Empty of one that was called at a UNIX socket and listens at no port of this host."""
    port: int
    """0 of such a one."""
    protocol: str | None
    """None where nothing was said that can be read."""
    calls: tuple[str, ...]
    socket: str | None = None

    @property
    def where(self) -> str:
        """Its address and port, its UNIX socket, or both."""
        at_port = f"{self.address}:{self.port}" if self.port else None
        return " and ".join(filter(None, (at_port, self.socket)))


@dataclass
class Followed:
    """What was found; ``elsewhere`` are calls that lead away from this host."""

    servers: list[Standing] = field(default_factory=list)
    elsewhere: list[Seen] = field(default_factory=list)


def front(where: str) -> Front | None:
    """The server that listens at `8080`, `127.0.0.1:8080` or in the process `pid:1234`.

    None if none does. Of several ports of a process it is the lowest.
    """
    kind, _, number = where.rpartition(":")
    if not number.isdecimal():
        return None
    for each in listeners():
        asked = ANY.get(each.address, each.address)
        if (kind == "pid" and each.pid == int(number)) or (
            kind != "pid" and each.port == int(number) and kind in ("", asked, "localhost")
        ):
            return Front(asked, each.port)
    return None


def followed(
    calls: Sequence[Mapping[str, Any]], begin: Front, at_sockets: Sequence[SocketCall] = ()
) -> Followed:
    """Follow the calls that were seen, by TCP and at UNIX sockets, from the front server on."""
    parties = [_party(FRONT, begin.address, begin.port)]
    for party in parties:
        parties += _new(calls, party, parties)
        parties += new_at_sockets(at_sockets, party, parties, _name)
    between = seen(calls, parties)
    found = Followed(elsewhere=[each for each in between if each.callee is None])
    for party in parties:
        callees = [s.callee for s in between if s.caller == party.name and s.callee is not None]
        own = [each for each in at_sockets if each.caller in party.pids]
        callees += [each.name for call in own if (each := called(call, parties)) and each != party]
        mine = [each for each in at_sockets if called(each, parties) == party]
        protocols = spoken([each for each in between if each.callee == party.name])
        protocols += [name for each in mine if (name := usual_at(each.path, each.program))]
        found.servers.append(
            Standing(
                party.name,
                party.address,
                party.port,
                next(iter(protocols), None),
                tuple(dict.fromkeys(callees)),
                next((each.path for each in mine), None),
            )
        )
    return found


def _new(
    calls: Sequence[Mapping[str, Any]], caller: Party, known: Sequence[Party]
) -> Iterator[Party]:
    """The servers on this host that a server calls, and that are not known."""
    names = [each.name for each in known]
    pids = [each.pids for each in known]
    for call in calls:
        address, port = place(call["server"])
        if not caller.pids & {*call["pids"]} or not call["listeners"] or ":" in address:
            continue
        party = _party(_name(call["listeners"][0], names), address, port)
        if party.pids and party.pids not in pids:
            names.append(party.name)
            pids.append(party.pids)
            yield party


def _party(name: str, address: str, port: int) -> Party:
    there = listeners_at(address, port)
    pids = frozenset(each.pid for each in there if each.program != MANAGER)
    return Party(name, address, port, pids)


def _name(pid: int, taken: Sequence[str]) -> str:
    """After its program, in the letters that a name may have; no two are alike."""
    try:
        program = psutil.Process(pid).name()
    except psutil.Error:
        program = ""
    letters = re.sub(r"[^a-z0-9]", "", program.lower()).lstrip("0123456789")[:MOST_LETTERS]
    name = letters or "server"
    numbered = (f"{name[: MOST_LETTERS - 2]}{number}" for number in range(2, 100))
    return next(each for each in (name, *numbered) if each not in taken)
