"""What a trial's servers say to one another at UNIX sockets, and what of it nobody sees."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tierlab.deploy.layout import Place
from tierlab.deploy.systems import Systems
from tierlab.experiment import TrialPlan
from tierlab.observe.unix_calls import UnixCall, UnixCallWatcher
from tierlab.servers.own_options import OwnOptions
from tierlab.tables.manifest import CALLS_OF, VISITS_OF, Manifest
from tierlab.topology import Seen, usual_at

INTERVAL_S, SHARE = 1.0, 0.005
"""In a trial that measures: a look takes about 1 ms, and up to 30 ms for an unknown program's."""
SHORT_INTERVAL_S, SHORT_SHARE = 0.01, 0.5
"""In a short one, which is to see who calls whom."""


class SocketWatch:
    """Watches the connections of a user's own servers to UNIX sockets."""

    def __init__(self, plan: TrialPlan, systems: Systems) -> None:
        self._systems = systems
        self._places = {place.name: place for place in systems.places}
        pace = (SHORT_INTERVAL_S, SHORT_SHARE) if plan.observe.calls else (INTERVAL_S, SHARE)
        self._watcher = UnixCallWatcher(self._processes, *pace)
        self._calls: list[UnixCall] = []
        self._is_asked = has_own_servers(plan)

    def start(self) -> None:
        """Begin, once the servers stand."""
        if self._is_asked:
            self._watcher.start()

    def stop(self) -> None:
        """End, while they still do."""
        self._calls = self._watcher.stop()

    @property
    def seen(self) -> list[Seen]:
        """The calls, as they are seen of TCP connections."""
        return [self._seen(call) for call in self._calls]

    def record(self, manifest: Manifest, traced: Collection[str] = ()) -> None:
        """Write down what nobody sees of the messages at UNIX sockets.

        `traced`: the servers whose messages at their sockets were seen.
        """
        if self._watcher.not_seen is not None:
            manifest.not_measured["calls at UNIX sockets"] = self._watcher.not_seen
        manifest.not_measured.update(unseen_visits(self._places.values(), traced))
        for call in self._calls:
            if self._callee(call) is None or self._is_elsewhere(call):
                manifest.not_measured[f"{CALLS_OF} {call.caller} at {call.socket}"] = _unseen(
                    call, self._callee(call)
                )

    def _processes(self) -> dict[str, list[int]]:
        domains = {name: self._systems.domain(name) for name in self._places}
        return {name: each.pids() for name, each in domains.items() if each.inside() is None}

    def _callee(self, call: UnixCall) -> str | None:
        """By who accepted the connections, else by where that was."""
        if call.callee is not None:
            return call.callee
        places = self._places.values()
        return next((each.name for each in places if each.endpoint.socket == call.socket), None)

    def _is_elsewhere(self, call: UnixCall) -> bool:
        callee = self._callee(call)
        return callee is not None and self._places[callee].endpoint.socket != call.socket

    def _seen(self, call: UnixCall) -> Seen:
        return Seen(
            call.caller,
            self._callee(call),
            "",
            0,
            usual_at(call.socket, call.program or ""),
            call.connections,
            refused=0,
            spoken=0,
            socket=call.socket,
        )


def has_own_servers(plan: TrialPlan) -> bool:
    """Whether any server is a user's own, which may call others as it likes."""
    tiers = (tier for each in plan.systems for tier in each.system.tiers.values())
    return any(isinstance(tier.settings.options, OwnOptions) for tier in tiers)


def unseen_visits(places: Iterable[Place], traced: Collection[str]) -> Iterator[tuple[str, str]]:
    """Servers that are called at sockets where no messages were seen, each with a sentence."""
    for place in places:
        socket = place.endpoint.socket
        if socket is not None and place.name not in traced:
            key = f"{VISITS_OF} {place.name}"
            yield (
                f"{key} at {socket}" if place.endpoint.port else key,
                f"it is called at the UNIX socket {socket}, and system calls were not traced",
            )


def _unseen(call: UnixCall, callee: str | None) -> str:
    whom = callee or call.program or "an unknown program"
    sentence = f"{call.caller} also talks to {whom} over {call.socket}: not seen"
    if callee is not None:
        table = callee.rpartition(".")[0].rpartition(".")[2]
        return f'{sentence}; say socket = "{call.socket}" in the table of {table}'
    return f'{sentence}; give it a table of its own with socket = "{call.socket}"'
