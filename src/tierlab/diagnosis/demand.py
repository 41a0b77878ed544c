"""Demand beyond the CPUs' capacity: what made it so, and how much load could be carried?

By Little's law a closed system in which ``X`` requests a second end holds ``X (Z + R)`` users who
think for ``Z`` and wait for ``R``. At saturation ``X`` is the most there is, so with the response
time of quiet times this is how many users could be served without queueing (the crossing point of
the asymptotes: P. J. Denning, J. P. Buzen, "The Operational Analysis of Queueing Network Models",
ACM Computing Surveys 10, 1978). Where CPUs are busy for a share ``U``, it is ``X / U``.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tierlab.analysis.facts import Facts, facts
from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Floats, Ints, bounds, columns, row, rows
from tierlab.analysis.queues.visit_cpu import VisitCpu, visit_cpu
from tierlab.analysis.requests.responses import FAILED
from tierlab.analysis.requests.thinking import thought_share
from tierlab.analysis.resources.metrics import SATURATED
from tierlab.analysis.served_from import STAY_NS
from tierlab.analysis.span import Span
from tierlab.diagnosis.cores import Cores
from tierlab.diagnosis.evidence import CORES
from tierlab.diagnosis.finding import Capacity, CostFrom, Demand, Kind, Window
from tierlab.diagnosis.no_load import no_load_times
from tierlab.diagnosis.signals import Signals
from tierlab.diagnosis.systems import load_of, requests_of

COLD = 1.5
"""A visit costs so many times what it costs later: the server was cold."""
COLD_NS = 60_000_000_000
"""A server is warm so long after the first load: a JVM has compiled what is run often."""

DEARER = 0.25
"""The share of a server's visits' CPU time, or of their time, that a label gained."""

LATER_S = 5.0
"""Of less time than this after a stretch nobody can say what visits cost then."""

LEAST_BUSY = 0.05
"""Of CPUs that do less nobody can say what they would do if they were full."""

NOTABLE = 0.05
"""Cores: who uses less than that is no measure of what a visit costs."""

SECOND_NS = 1_000_000_000
FEWEST = 3
"""Of fewer seconds no range can be told."""


@dataclass(frozen=True)
class Demands:
    """Asks what the demand in a stretch of saturation was; ``whole`` is the trial."""

    observed: Observed
    signals: Signals
    cores: Cores
    whole: Span

    def of(self, window: Window, server: str, cores: tuple[str, ...]) -> Demand:
        """Return what made the demand in the window; ``server`` used most of the ``cores``."""
        cost, later = self._costs(window, server)
        dear, gained = self._dearer(window, server)
        began_cold = window.start_ns - self.whole.start_ns <= COLD_NS
        kind: Kind = "users"
        if began_cold and cost is not None and later is not None and cost >= COLD * later:
            kind = "cold start"
        elif gained >= DEARER:
            kind = "expensive"
        return Demand(
            kind=kind,
            label=dear if kind == "expensive" else None,
            label_gained=gained if kind == "expensive" else None,
            cost_s=cost,
            later_cost_s=later,
            cost_from=self._cost_from(server),
            capacity=self._capacity(window, server, cores, warm=kind == "cold start"),
            cost_ratio=self._cost_ratio(window),
        )

    def _costs(self, window: Window, server: str) -> tuple[float | None, float | None]:
        """Return the CPU seconds of a visit in the window's first third, and after the window or,
        where nothing follows, in its last third.
        """
        third = (window.end_ns - window.start_ns) // 3
        first = Window(start_ns=window.start_ns, end_ns=window.start_ns + third)
        last = Window(start_ns=window.end_ns - third, end_ns=window.end_ns)
        after = Window(start_ns=window.end_ns, end_ns=self.whole.end_ns)
        known = self._cost(after, server) if after.duration_s >= LATER_S else None
        return self._cost(first, server), known or self._cost(last, server)

    def _cost(self, window: Window, server: str) -> float | None:
        used_s, visits = self._spent(window, server)
        return used_s / visits if used_s is not None and visits else None

    def _cost_from(self, server: str) -> CostFrom:
        measured = self._of_threads.get(server)
        return "threads" if measured is not None and measured.is_known else "control group"

    @cached_property
    def _of_threads(self) -> dict[str, VisitCpu]:
        return visit_cpu(self.observed.db, self.whole)

    def _spent(self, window: Window, server: str) -> tuple[float | None, int]:
        """Return the CPU seconds that a server used and how many visits left it: of its visits as
        their threads' clocks measured it, where they did for nearly all, else of its control group.
        """
        if self._cost_from(server) == "threads":
            span = Span(window.start_ns, window.end_ns)
            left = visit_cpu(self.observed.db, span).get(server)
            return (None, 0) if left is None else (left.cpu_s, left.measured)
        used = self.signals.get("domain", CORES, server)
        cores = None if used is None else used.mean(window)
        seen = self.observed.in_progress.get(server)
        if cores is None or seen is None:
            return None, 0
        count = np.diff(np.searchsorted(seen.departure_ns, [window.start_ns, window.end_ns]))
        return cores * window.duration_s, int(count[0])

    def _cost_ratio(self, window: Window) -> float | None:
        """Return by how much more CPU time a visit took than otherwise, where that is the least of
        all servers that use some; None where nobody knows.
        """
        whole = Window(start_ns=self.whole.start_ns, end_ns=self.whole.end_ns)
        found = []
        for server in self.observed.run.manifest.servers:
            (used_s, visits), (all_s, of_all) = (
                self._spent(each, server) for each in (window, whole)
            )
            if used_s is None or all_s is None or used_s < NOTABLE * window.duration_s:
                continue
            if visits and of_all > visits and all_s > used_s:
                found.append(used_s / visits / ((all_s - used_s) / (of_all - visits)))
        return min(found, default=None)

    def _dearer(self, window: Window, server: str) -> tuple[str | None, float]:
        """Return the label whose share of the visits' CPU time at the server rose most, and by how
        much. Where that was not measured, by their time: on a shared CPU a visit stays for as long
        as its work is large.
        """
        spent = "cpu_ns" if self._cost_from(server) == "threads" else STAY_NS
        found = rows(
            self.observed.db,
            f"""WITH stays AS (
                SELECT label, {spent} AS spent,
                    departure_ns > $start AND arrival_ns < $end AS inside
                FROM visits WHERE server = $server AND departure_ns IS NOT NULL
            ) SELECT label, coalesce(sum(spent) FILTER (WHERE inside), 0)::DOUBLE AS then_ns,
                coalesce(sum(spent) FILTER (WHERE NOT inside), 0)::DOUBLE AS else_ns
            FROM stays GROUP BY label ORDER BY label""",
            {"start": window.start_ns, "end": window.end_ns, "server": server},
        )
        then, other = (sum(each[name] for each in found) for name in ("then_ns", "else_ns"))
        if not then or not other:
            return None, 0.0
        gains = {each["label"]: each["then_ns"] / then - each["else_ns"] / other for each in found}
        label = max(gains, key=lambda each: gains[each])
        return label, gains[label]

    def _capacity(
        self, window: Window, server: str, cores: tuple[str, ...], *, warm: bool
    ) -> Capacity | None:
        """Return the load that could be carried: by the throughput of the saturated seconds; of a
        cold start by what was carried afterwards, over how busy the CPUs were.
        """
        after = Window(start_ns=window.end_ns, end_ns=self.whole.end_ns)
        start = self._from_its_start(window, server, cores)
        counted = after if warm and after.duration_s >= LATER_S else start
        edge_ns = np.arange(counted.start_ns, counted.end_ns + 1, SECOND_NS, dtype=np.int64)
        if edge_ns.size <= FEWEST:
            return None
        asked, about = self._whose(cores, window.start_ns)
        rate = self._finished(edge_ns, asked)
        if counted is after:
            rate = rate / np.clip(self._busy(server, cores, edge_ns), LEAST_BUSY, 1.0)
        rate = rate[np.isfinite(rate)]
        if rate.size < FEWEST or not rate.any():
            return None
        from scipy.special import stdtrit  # takes a tenth of a second to load

        mean = float(rate.mean())
        error = float(rate.std(ddof=1) / np.sqrt(rate.size) * stdtrit(rate.size - 1, 0.975))
        low, high = max(0.0, mean - error), mean + error
        quiet = self._quiet_s(asked)
        held = self._held_s(about.think_s, quiet, asked) if about.users is not None else None
        return Capacity(
            throughput=mean,
            throughput_low=low,
            throughput_high=high,
            think_s=about.think_s,
            quiet_response_s=quiet,
            offered_users=about.users,
            users=None if held is None else mean * held,
            users_low=None if held is None else low * held,
            users_high=None if held is None else high * held,
        )

    def _whose(self, cores: tuple[str, ...], at_ns: int) -> tuple[str, Facts]:
        """Return the requests of the systems on these CPUs, as a table in SQL, and their load."""
        manifest = self.observed.run.manifest
        systems = self.cores.systems(cores, at_ns)
        theirs = manifest.model_copy(update={"load": load_of(manifest, systems)})
        return requests_of(manifest, systems), facts(theirs, None)

    def _from_its_start(self, window: Window, server: str, cores: tuple[str, ...]) -> Window:
        """Return the window with the full seconds right before it: what began in the ramp-up is
        found from the runtime on only.
        """
        edge_ns = np.arange(window.start_ns, self.whole.start_ns - 1, -SECOND_NS, dtype=np.int64)
        if edge_ns.size < 2:
            return window
        full = self._busy(server, cores, edge_ns[::-1])[::-1] >= SATURATED
        seconds = int(np.argmin(np.append(full, False)))
        return Window(start_ns=window.start_ns - seconds * SECOND_NS, end_ns=window.end_ns)

    def _finished(self, edge_ns: Ints, asked: str) -> Floats:
        found = columns(
            self.observed.db,
            f"SELECT end_ns FROM {asked} WHERE NOT {FAILED} ORDER BY end_ns",
            {},
        )
        return np.diff(np.searchsorted(found["end_ns"], edge_ns)) * 1e9 / SECOND_NS

    def _busy(self, server: str, cores: tuple[str, ...], edge_ns: Ints) -> Floats:
        signals = [self.signals.get("cpu", "busy", core) for core in cores]
        means = [each.means(edge_ns) for each in signals if each is not None]
        busy = np.mean(means, axis=0) if means else np.full(edge_ns.size - 1, np.nan)
        thread = self.signals.busiest_thread(server)
        return busy if thread is None else np.asarray(np.fmax(busy, thread.means(edge_ns)))

    def _held_s(self, think_s: float | None, quiet_s: float | None, asked: str) -> float | None:
        """Return for how long a request and what its user thinks before it take together."""
        thought = thought_share(self.observed.db, self.whole, asked)
        if think_s is None or quiet_s is None:
            return None
        return think_s * (1.0 if thought is None else thought) + quiet_s

    def _quiet_s(self, asked: str) -> float | None:
        """Return the response time without queueing, each page's weighted by how often it was asked
        for.
        """
        quiet: float | None = row(
            self.observed.db,
            f"""SELECT sum(quick_ns * count) / sum(count) / 1e9 AS quiet_s
                FROM {no_load_times(asked, "end_ns BETWEEN $start AND $end")}""",
            bounds(self.whole),
        )["quiet_s"]
        return quiet
