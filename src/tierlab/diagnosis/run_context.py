"""A run, and the context of each of its stalls: who is suspected, and what is known of it."""

from collections.abc import Callable
from functools import cache, cached_property

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Ints, columns
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.incidents import USERS
from tierlab.diagnosis.signals import Signals
from tierlab.diagnosis.stall_context import Pause, StallContext
from tierlab.diagnosis.stalls import Stall

ARRIVAL_BIN_NS = 150_000_000


class RunContext:
    """What a run's stalls are judged by."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self.signals = Signals(observed.run, observed.db)
        manifest = observed.run.manifest
        self.servers = tuple(manifest.servers)
        self._parts = manifest.servers
        self._topology = manifest.topology
        self._pauses = self._read_pauses()
        self._departures = cache(self._read_departures)
        self._came = cache(self._read_arrivals)
        self._usual = cache(self._read_usual)

    @property
    def entry(self) -> str:
        """Return the first server; the users themselves where none is known."""
        return self.servers[0] if self.servers else USERS

    def tier(self, server: str) -> str:
        """Return the server's tier; its own name where the manifest does not know it."""
        part = self._parts.get(server)
        return server if part is None else part.tier

    def contexts(self, stall: Stall, *, anywhere: bool) -> list[StallContext]:
        """Return the stalled server's context; with ``anywhere`` that of every server.

        A wait of the users for the first server is the first server's.
        """
        if anywhere:
            return [self._context(stall, name) for name in self.servers]
        subject = self.servers[0] if stall.server == USERS else stall.server
        return [self._context(stall, subject)] if subject in self._parts else []

    def _context(self, stall: Stall, subject: str) -> StallContext:
        part = self._parts[subject]
        has = self._observed.run.has("visits")
        return StallContext(
            subject=subject,
            kind=part.server,
            window=stall.core,
            servers=self.servers,
            limits=dict(part.soft),
            toward=stall.toward,
            signals=self.signals,
            pauses=None if self._pauses is None else self._pauses.get(subject, []),
            leaving=self._counter(lambda: self._departures(subject)) if has else None,
            arriving=self._counter(self._arrivals) if self._any_arrivals() else None,
            visiting=self._visiting(subject),
            below=self._below(part.tier),
            above=self._above(subject),
            usual_arrivals=self._usual(self.entry),
            usual_visits=self._usual(subject),
        )

    def _above(self, subject: str) -> str | None:
        """Return who calls the server: of several the last."""
        return next(reversed(self._topology.callers(subject)), None)

    def _below(self, tier: str) -> Callable[[Window], float] | None:
        calling = self._topology.servers(tier)
        callees = sorted({name for each in calling for name in self._topology.callees(each)})
        seen = [self._observed.in_progress.get(name) for name in callees]
        known = [each for each in seen if each is not None]
        if not known:
            return None

        def count(window: Window) -> float:
            edges = np.array([window.start_ns, window.end_ns], dtype=np.int64)
            return float(sum(each.mean(edges)[0] for each in known))

        return count

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

    def _arrivals(self) -> Ints:
        return self._came(self.entry)

    def _read_arrivals(self, server: str) -> Ints:
        """When visits came to the server; without messages, when users sent requests."""
        if self._observed.run.has("visits") and self.servers:
            seen = self._observed.in_progress.get(server)
            return np.zeros(0, dtype=np.int64) if seen is None else seen.arrival_ns
        return self._sent

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
        edges = np.arange(span.start_ns, span.end_ns + 1, ARRIVAL_BIN_NS)
        counts = np.sort(np.diff(np.searchsorted(self._came(server), edges)))
        return float(np.mean(counts[: max(1, int(0.9 * len(counts)))])) / (ARRIVAL_BIN_NS / 1e9)

    def _read_pauses(self) -> dict[str, list[Pause]] | None:
        """The servers' own pauses by server; None where no log of them was kept."""
        if not self._observed.run.has("events"):
            return None
        found = columns(
            self._observed.db,
            """SELECT subject, t_ns, duration_ns, detail FROM events
            WHERE kind IN ('gc', 'safepoint') ORDER BY t_ns""",
            {},
        )
        pauses: dict[str, list[Pause]] = {}
        for subject, start, length, detail in zip(*found.values(), strict=True):
            window = Window(start_ns=int(start), end_ns=int(start + length))
            pauses.setdefault(str(subject), []).append(Pause(window, str(detail)))
        return pauses or None
