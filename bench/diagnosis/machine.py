"""Was the machine itself slower in one trial than in the others?

A host that shares a core may give less for the same CPU time, and no stolen time tells of it. The
driver does the same work for a request in every trial and no disturbance is done to it: where it
took more CPU time for each, so did the servers, and what a trial's load level says is not so.

What a request costs depends on how many come. So trials are compared with those of the same load
level: of the same kind, or of any where these are few, and with the control, as all of a kind may
have been slower. All of the highest level may have been: by the utilisation law (P. Denning and
J. Buzen, "The Operational Analysis of Queueing Network Models", 1978) CPUs are as busy as the level
says, and where they were busier it was another one. Below it a request costs more CPU time, the
fewer come, and there is room for it. Trials of too many users are not compared: the numbers of
their users differ, and a slower machine makes them no less what they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low

import numpy as np
from campaign import LOADS, Planned
from score import touches
from truth import Injected

from tierlab.analysis.observed import RUNTIME
from tierlab.analysis.query import IN_SPAN, Bools, Connection, Floats, bounds, columns
from tierlab.analysis.requests.driver import cpu_by_block
from tierlab.analysis.resources.in_force import InForce
from tierlab.analysis.span import Span
from tierlab.diagnosis.finding import Window
from tierlab.tables.run import Run

MOST = 1.1
BUSIER = 0.08
"""What watching adds is within it, as a share of the CPUs."""
HIGHEST = max(LOADS, key=lambda load: LOADS[load])
FEWEST = 3
SECOND_NS = 1_000_000_000
LEAST_SECONDS = 10
"""The median of fewer seconds depends on which pages were asked for in them."""


@dataclass(frozen=True)
class Paces:
    """By the trial's name, its driver's CPU time for a request over what is usual at that load;
    None where it has no record of it or nothing to be compared with. ``busier`` is, of those at
    the highest level, by how much more of the CPUs was used than that says; a trial in which they
    were not sampled is not there.
    """

    ratios: Mapping[str, float | None]
    busier: Mapping[str, float]

    @property
    def slow(self) -> frozenset[str]:
        """The trials that are not fair."""
        dear = {name for name, ratio in self.ratios.items() if ratio and ratio > MOST}
        return frozenset(dear | {name for name, more in self.busier.items() if more > BUSIER})

    def __str__(self) -> str:
        known = {name: ratio for name, ratio in self.ratios.items() if ratio is not None}
        rest = {name: ratio for name, ratio in known.items() if name not in self.slow}
        lines = [
            f"Left out, as the machine itself was slower: {len(self.slow)} of {len(known)} trials "
            f"(the driver took over {MOST} times its usual CPU time for a request, or the CPUs "
            f"were busier than the load level by over {BUSIER:.0%} of them).",
            *(f"left out: {name}: {self._words(name)}" for name in sorted(self.slow)),
        ]
        if rest:
            name = max(rest, key=rest.__getitem__)
            lines.append(f"The slowest of the others: {name}: {self._words(name)}")
        if self.busier:
            least, most = (LOADS[HIGHEST] + f(self.busier.values()) for f in (min, max))
            lines.append(
                f"The CPUs were {least:.0%} to {most:.0%} busy at {LOADS[HIGHEST]:.0%} of the "
                "capacity."
            )
        if unknown := sorted(self.ratios.keys() - known.keys()):
            lines.append(f"Not to be compared, and not left out: {', '.join(unknown)}")
        return "\n".join(lines)

    def _words(self, name: str) -> str:
        ratio, more = self.ratios.get(name), self.busier.get(name)
        words = [] if ratio is None else [f"{ratio:.2f} times"]
        return ", ".join(words + ([] if more is None else [f"CPUs {more:+.0%} of the level"]))


def paces(made: Sequence[tuple[Planned, Path]], truths: Mapping[str, Sequence[Injected]]) -> Paces:
    """Compare the trials, but for those of too many users."""
    compared = [(trial, folder) for trial, folder in made if trial.kind != "overload"]
    costs = {trial.name: request_s(folder, truths[trial.name]) for trial, folder in compared}
    trials = [trial for trial, _ in compared]
    busier = {
        trial.name: share - LOADS[HIGHEST]
        for trial, folder in compared
        if trial.load == HIGHEST and (share := busy_share(folder, truths[trial.name])) is not None
    }
    return Paces({each.name: _ratio(each, trials, costs) for each in trials}, busier)


def _ratio(
    trial: Planned, trials: Sequence[Planned], costs: Mapping[str, float | None]
) -> float | None:
    """Of an even number the median is the lower one of the two in the middle: of two trials of
    which one was slow it is the other's.
    """
    level = [each for each in trials if each.load == trial.load]
    same, control = (
        _known([each for each in level if each.kind == kind], costs)
        for kind in (trial.kind, "control")
    )
    compared = same if len(same) >= FEWEST else _known(level, costs)
    cost = costs[trial.name]
    if cost is None or len(compared) < 2:
        return None
    return cost / min(median_low(each) for each in (compared, control) if each)


def _known(trials: Sequence[Planned], costs: Mapping[str, float | None]) -> list[float]:
    return [cost for each in trials if (cost := costs[each.name]) is not None]


def request_s(folder: Path, true: Sequence[Injected]) -> float | None:
    """Return the driver's CPU time for a request: the median of the runtime's seconds that no
    disturbance and nothing that it piled up touches; None where too few were recorded, or where the
    servers' processors are emulated on the driver's own.
    """
    run = Run(folder)
    span = _seconds(run)
    if span is None or run.manifest.emulated_pus is not None:
        return None
    count = span.windows(SECOND_NS)
    with run.connect() as db:
        spent, ended = cpu_by_block(db, span, count), _ended(db, span, count)
    if spent is None:
        return None
    quiet = _quiet(span, true) & (ended > 0)
    return _median(np.divide(spent, ended, out=np.zeros(count), where=quiet)[quiet])


def busy_share(folder: Path, true: Sequence[Injected]) -> float | None:
    """Return the busy share of the CPUs that servers may run on, likewise; where these are emulated
    of those that do it.
    """
    run = Run(folder)
    span = _seconds(run)
    if span is None or not run.has("cpu"):
        return None
    held = InForce(run.manifest)
    places = [held.at(name, 0).pus for name in run.manifest.servers]
    emulated = run.manifest.emulated_pus is not None
    mine = set() if emulated else {f"cpu{pu}" for found in places for pu in found or ()}
    with run.connect() as db:
        found = columns(
            db,
            f"""SELECT (t_ns - 1 - $start) // {SECOND_NS} AS second, avg(busy) AS busy FROM cpu
                WHERE t_ns > $start AND t_ns <= $end AND (len($mine) = 0 OR subject IN $mine)
                GROUP BY second""",
            {**bounds(span), "mine": sorted(mine)},
        )
    quiet = _quiet(span, true)
    return _median(found["busy"][quiet[found["second"]]])


def _seconds(run: Run) -> Span | None:
    """The whole seconds of the runtime."""
    runtime = run.manifest.phase(RUNTIME)
    count = 0 if runtime is None else (runtime.end_ns - runtime.start_ns) // SECOND_NS
    if runtime is None or not count:
        return None
    return Span(runtime.start_ns, runtime.start_ns + count * SECOND_NS)


def _quiet(span: Span, true: Sequence[Injected]) -> Bools:
    starts = range(span.start_ns, span.end_ns, SECOND_NS)
    return np.array([not _disturbed(start, true) for start in starts])


def _median(seconds: Floats) -> float | None:
    return float(np.median(seconds)) if seconds.size >= LEAST_SECONDS else None


def _disturbed(start_ns: int, true: Sequence[Injected]) -> bool:
    second = Window(start_ns=start_ns, end_ns=start_ns + SECOND_NS)
    return any(touches(second, each) for each in true)


def _ended(db: Connection, span: Span, count: int) -> Floats:
    """Count the requests of any end by second."""
    found = columns(
        db,
        f"""SELECT (end_ns - $start) // {SECOND_NS} AS second, count(*) AS count FROM requests
            WHERE end_ns {IN_SPAN} GROUP BY second""",
        bounds(span),
    )
    ended = np.zeros(count)
    ended[found["second"]] = found["count"]
    return ended
