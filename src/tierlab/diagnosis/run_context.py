"""A run, and the context of each of its stalls: who is suspected, and what is known of it."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Ints, columns
from tierlab.analysis.queues.own_gaps import INCOMPLETE
from tierlab.analysis.requests.driver import recorded_cpu_share
from tierlab.analysis.resources.cpu_use import agents_use
from tierlab.analysis.served_from import SERVED_FROM_NS
from tierlab.analysis.span import WINDOW_NS
from tierlab.diagnosis import arrivals
from tierlab.diagnosis.arrival_kinds import arrival_kinds
from tierlab.diagnosis.arrivals import Arrivals
from tierlab.diagnosis.calls import Calls, calls
from tierlab.diagnosis.connections import connections
from tierlab.diagnosis.cores import cores
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.full_by_chance import full_by_chance
from tierlab.diagnosis.incidents import aftermath
from tierlab.diagnosis.sent_again import sent_again
from tierlab.diagnosis.signals import Signals, Stretches
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.stalls import USERS, Stall, asked_by
from tierlab.diagnosis.told import read_pauses, tells_locks, tells_pauses

SLOW_NS = 20_000_000
"""A request that takes so long from its first byte to its last is sent slowly."""


class RunContext:
    """What a run's stalls are judged by. ``stalls`` are all of them: the rest is quiet time."""

    def __init__(self, observed: Observed, stalls: Sequence[Stall] = ()) -> None:
        self._observed = observed
        windows = [aftermath(each) for each in stalls]
        self._stalled = Stretches.of(windows)
        self.signals = Signals(observed.run, observed.db, windows)
        manifest = observed.run.manifest
        self.servers = tuple(manifest.servers)
        self.topology = manifest.topology
        self._parts = manifest.servers
        self._pauses = read_pauses(observed)
        self._departures = cache(self._read_departures)
        self._came = cache(self._read_arrivals)
        self._sending = cache(self._read_sending)
        self._sent_again = cache(partial(sent_again, observed))
        self._connections = cache(partial(connections, observed))
        self.cores = cores(observed, self.signals.subjects("cpu", "busy"))
        self._peers = cache(self._read_peers)
        self._arrivals = cache(self._read_arrival_kinds)
        self._calls = cache(self._read_calls)
        self._usual = cache(self._read_usual)
        self._usual_quiet = cache(self._read_usual_quiet)
        self._full_by_chance = cache(self._read_full_by_chance)
        self._in_progress = cache(self._read_in_progress)

    @property
    def entry(self) -> str:
        """Return the first server, of several systems the first's; the users themselves where none
        is known.
        """
        return next(iter(self.topology.entries), USERS)

    def entry_of(self, server: str) -> str:
        """Return the first server that a server belongs to."""
        for entry in self.topology.entries:
            if server == entry or server in self.topology.below(entry):
                return entry
        return self.entry

    def tier(self, server: str) -> str:
        """Return the server's tier; its own name where the manifest does not know it."""
        part = self._parts.get(server)
        return server if part is None else part.tier

    def contexts(self, stall: Stall, *, anywhere: bool) -> list[StallContext]:
        """Return the stalled server's context; with ``anywhere`` that of every server.

        A wait of the users for a first server is that server's.
        """
        if anywhere:
            return [self._context(stall, name) for name in self.servers]
        subject = asked_by(stall.server) or stall.server
        return [self._context(stall, subject)] if subject in self._parts else []

    def contexts_below(self, stall: Stall) -> list[StallContext]:
        """Return the contexts of those that the stalled server calls, and that these call."""
        subject = asked_by(stall.server) or stall.server
        below = self.topology.below(subject) if subject in self._parts else ()
        return [self._context(stall, name) for name in self.servers if name in below]

    def _context(self, stall: Stall, subject: str, *, alone: bool = False) -> StallContext:
        part, entry, run = self._parts[subject], self.entry_of(subject), self._observed.run
        has = run.has("visits")
        at_ns = stall.core.start_ns
        mine = self.cores.of(subject, at_ns)
        peers = [] if alone else self._peers(subject, at_ns)
        held = self.cores.held.at(subject, at_ns)
        return StallContext(
            subject=subject,
            window=stall.core,
            waiting=stall.waiting,
            entry=entry,
            limits=dict(held.soft),
            worker_threads=part.worker_threads,
            toward=stall.toward if subject in {stall.server, asked_by(stall.server)} else None,
            signals=self.signals,
            tells_pauses=subject in self._pauses or tells_pauses(run, subject),
            tells_locks=tells_locks(run, self.signals, subject),
            pauses=self._pauses.get(subject),
            cores=mine,
            weight=held.weight,
            laboratory=self._laboratory,
            peers=tuple(self._context(stall, each, alone=True) for each in peers),
            at=lambda server: (
                self._context(stall, server, alone=True) if server in self._parts else None
            ),
            leaving=self._counter(lambda: self._departures(subject)) if has else None,
            arrivals=self._arrivals(entry),
            visiting=self._visiting(subject),
            calls=self._calls(subject),
            incoming=self._incoming(subject) if has else None,
            sent_again=self._sent_again(subject),
            connections=(lambda w: self._connections(subject).used(w)) if has else None,
            above=self._above(subject),
            usual_visits=self._usual_quiet(subject),
            full_by_chance=self._full_by_chance(mine),
        )

    def in_progress(self, server: str, t_ns: Ints) -> Ints:
        """Return how many visits were in progress at a server at each instant; none where messages
        were not captured.
        """
        seen = self._observed.in_progress.get(server)
        return np.zeros(t_ns.size, dtype=np.int64) if seen is None else seen.at(t_ns)

    def usually_in_progress(self, server: str) -> float | None:
        """Return how many visits are at a server at the median instant of quiet time; None where
        messages were not captured.
        """
        return self._in_progress(server)

    def _read_in_progress(self, server: str) -> float | None:
        seen, whole = self._observed.in_progress.get(server), self._observed.whole
        if seen is None or whole is None:
            return None
        t_ns = np.arange(whole.start_ns, whole.end_ns, WINDOW_NS, dtype=np.int64)
        quiet = t_ns[~self._stalled.touch(t_ns, t_ns + 1)]
        return float(np.median(seen.at(quiet if quiet.size else t_ns)))

    @cached_property
    def _laboratory(self) -> float:
        """The share of the machine's CPUs that the agents use, on average."""
        observed, sampled = self._observed, self.signals.subjects("cpu", "busy")
        span = observed.measured
        if span is None or observed.whole is None or not sampled:
            return 0.0
        costs = observed.run.manifest.observation.costs
        used = agents_use(costs, observed.whole.duration_ns, recorded_cpu_share(observed.db, span))
        return (used or 0.0) / len(sampled)

    def _read_peers(self, server: str, at_ns: int) -> list[str]:
        """The servers that share CPUs with it."""
        mine, others = {*self.cores.of(server, at_ns)}, (n for n in self.servers if n != server)
        return [name for name in others if mine & {*self.cores.of(name, at_ns)}]

    def _read_full_by_chance(self, names: tuple[str, ...]) -> Callable[[Window], bool] | None:
        span, busy = self._observed.measured, self.signals.together("cpu", "busy", names)
        return None if span is None or busy is None else full_by_chance(busy, len(names), span)

    def _above(self, subject: str) -> str | None:
        """Return who calls the server: of several the last."""
        return next(reversed(self.topology.callers(subject)), None)

    def _read_calls(self, subject: str) -> Calls | None:
        """What is called by the server, and by those beside it that call the same."""
        called, topology = set(self.topology.callees(subject)), self.topology
        alike = topology.servers(topology.tier_of[subject])
        beside = [each for each in alike if called & set(topology.callees(each))]
        callees = sorted({name for each in beside for name in topology.callees(each)})
        seen = [self._observed.in_progress.get(name) for name in callees]
        known, whole = [each for each in seen if each is not None], self._observed.whole
        return calls(known, whole, self._stalled) if known and whole is not None else None

    def _incoming(self, subject: str) -> Callable[[Window], float]:
        def count(window: Window) -> float:
            first, last = self._sending(subject)
            inside = np.minimum(last, window.end_ns) - np.maximum(first, window.start_ns)
            return float(np.maximum(inside, 0).sum()) / (window.end_ns - window.start_ns)

        return count

    def _read_sending(self, server: str) -> tuple[Ints, Ints]:
        """The first and the last byte of the requests that were sent slowly and came whole."""
        found = columns(
            self._observed.db,
            f"""SELECT arrival_ns, request_end_ns FROM visits
            WHERE server = $server AND request_end_ns - arrival_ns >= $slow
            AND NOT (departure_ns IS NULL AND {INCOMPLETE})""",
            {"server": server, "slow": SLOW_NS},
        )
        return found["arrival_ns"].astype(np.int64), found["request_end_ns"].astype(np.int64)

    def _visiting(self, subject: str) -> Callable[[Window], int] | None:
        if not self._any_arrivals():
            return None
        came = self._counter(lambda: self._came(subject))
        if not self._observed.run.has("visits"):
            return came
        left = self._counter(lambda: self._departures(subject))
        return lambda window: max(came(window), left(window))

    def _any_arrivals(self) -> bool:
        run = self._observed.run
        return run.has("visits") or run.has("requests")

    def _counter(self, times: Callable[[], Ints]) -> Callable[[Window], int]:
        def count(window: Window) -> int:
            known = times()
            first, last = np.searchsorted(known, [window.start_ns, window.end_ns])
            return int(last - first)

        return count

    def _read_departures(self, server: str) -> Ints:
        """When visits were seen to leave; those that never were do not count."""
        seen = self._observed.in_progress.get(server)
        if seen is not None and server not in self._holding:
            return seen.departure_ns
        found = columns(
            self._observed.db,
            """SELECT departure_ns AS t FROM visits
            WHERE server = $server AND departure_ns IS NOT NULL ORDER BY t""",
            {"server": server},
        )
        return found["t"].astype(np.int64)

    @cached_property
    def _holding(self) -> set[str]:
        """The servers with visits that were never seen to leave."""
        found = columns(self._observed.db, "SELECT DISTINCT server FROM held", {})
        return {str(name) for name in found["server"]}

    def _read_arrivals(self, server: str) -> Ints:
        """When visits came to the server, whole; without messages, when users sent requests."""
        if self._observed.run.has("visits") and self.servers:
            if self._sending(server)[0].size:
                return self._read_whole(server)
            seen = self._observed.in_progress.get(server)
            return np.zeros(0, dtype=np.int64) if seen is None else seen.arrival_ns
        return self._sent

    def _read_whole(self, server: str) -> Ints:
        """When the requests of visits had come to their end, where some took long to: until then
        there is nothing to serve.
        """
        found = columns(
            self._observed.db,
            f"""SELECT greatest({SERVED_FROM_NS}, request_end_ns) AS t FROM visits
            WHERE server = $server ORDER BY t""",
            {"server": server},
        )
        return found["t"].astype(np.int64)

    @cached_property
    def _sent(self) -> Ints:
        found = columns(
            self._observed.db, "SELECT start_ns AS t FROM requests ORDER BY start_ns", {}
        )
        return found["t"].astype(np.int64)

    def _read_usual(self, server: str) -> float:
        """How many visits usually come to it a second: the mean of the quieter nine tenths."""
        span = self._observed.measured
        if span is None or not self._any_arrivals():
            return 0.0
        return arrivals.usual(self._came(server), span)

    def _read_usual_quiet(self, server: str) -> float:
        """How many visits come to it a second in quiet time, which is that of all usual figures."""
        whole = self._observed.whole
        if whole is None or not self._any_arrivals():
            return 0.0
        quiet = arrivals.usual_quiet(self._came(server), whole, self._stalled)
        return self._usual(server) if quiet is None else quiet

    def _read_arrival_kinds(self, entry: str) -> tuple[Arrivals, ...]:
        if not self._any_arrivals():
            return ()
        return arrival_kinds(self._observed, entry, self._came, self._sent)
