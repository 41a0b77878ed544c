"""The servers behind one that runs already, found along its connections to UNIX sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tierlab.environments.listeners import ANY, listeners
from tierlab.environments.unix.listeners import UnixListener, unix_listeners
from tierlab.observe.calls import Party
from tierlab.observe.unix_calls import UnixCall

Name = Callable[[int, Sequence[str]], str]
"""Names a server after a process of its, unlike those that are taken."""


@dataclass(frozen=True)
class SocketCall:
    """A process of this host that is connected to a UNIX socket, and who listens there."""

    caller: int
    path: str
    pids: frozenset[int]
    """The processes that listen there, and those that accepted its connections."""
    program: str


def socket_calls(found: Sequence[UnixCall]) -> list[SocketCall]:
    """The calls whose callers are processes, each with who listens at its socket."""
    listening: dict[str, list[UnixListener]] = {}
    for each in unix_listeners({call.socket for call in found}) if found else ():
        listening.setdefault(each.path, []).append(each)
    return [
        SocketCall(
            int(call.caller),
            call.socket,
            frozenset(call.pids).union(*(each.pids for each in listening.get(call.socket, ()))),
            call.program or "",
        )
        for call in found
    ]


def called(call: SocketCall, parties: Sequence[Party]) -> Party | None:
    """The server that a call reaches; None where it is none of these."""
    return next((each for each in parties if each.pids & call.pids), None)


def new_at_sockets(
    calls: Sequence[SocketCall], caller: Party, known: Sequence[Party], name: Name
) -> Iterator[Party]:
    """The servers that a server calls at UNIX sockets, and that are not known."""
    parties = list(known)
    for call in calls:
        if call.caller not in caller.pids or not call.pids or called(call, parties) is not None:
            continue
        taken = [each.name for each in parties]
        party = Party(name(min(call.pids), taken), *_at_port(call.pids), call.pids)
        parties.append(party)
        yield party


def _at_port(pids: frozenset[int]) -> tuple[str, int]:
    """The lowest TCP port of this host at which these processes listen, too; "" and 0 if none."""
    for each in sorted(listeners(), key=lambda each: each.port):
        if each.pid in pids and ":" not in ANY.get(each.address, each.address):
            return ANY.get(each.address, each.address), each.port
    return "", 0
