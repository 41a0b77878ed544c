"""For how long, without a break, were all CPUs of a server busy while requests were late?

Stalls are told by visits that took longer than their kind usually does. Where demand is beyond
capacity for most of a run, long is what is usual, and nothing stalls. So lasting saturation is
looked for by itself, and judged by the same causes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import Bools, Floats, columns, row
from tierlab.analysis.resources.metrics import SATURATED
from tierlab.analysis.resources.utilisation import utilisations
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.analysis.statistics.stretches import stretches
from tierlab.diagnosis.cores import cores
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.no_load import no_load_times
from tierlab.diagnosis.signals import Signals
from tierlab.diagnosis.stalls import USERS, Stall
from tierlab.diagnosis.systems import requests_of

LEAST_NS = 2_000_000_000
"""What is shorter shows as stalls, as most of the run is not like it."""

BREAK_NS = 1_000_000_000
"""A shorter time with CPU to spare, as a queue runs empty by chance, is no end of it."""

WHOLE = 0.98
"""Of the CPUs' time in a stretch with its breaks: CPUs that are 85 % busy are full for a moment in
every second, and what is joined of that is 0.94 to 0.976 busy; with more users than can be served
it was 0.987 and more."""

SMOOTH = 5
"""Windows of 50 ms: over a quarter of a second a tick's error of 2 to 3 points is 1."""

LATE = 3.0
"""In a second half of the requests took this many times what those of their page take at once."""


@dataclass(frozen=True)
class Saturated:
    """A stretch in which all of these CPUs were busy and requests late: a stall of the users. Of a
    ``server`` whose busiest thread was, they are those that it may run on.
    """

    cores: tuple[str, ...]
    stall: Stall
    server: str | None = None


def saturated(observed: Observed, span: Span) -> list[Saturated]:
    """Return the stretches of two seconds and more for each set of CPUs that servers may run on,
    and for each server's busiest thread where not each request has one to itself.
    """
    if not observed.run.has("requests"):
        return []
    manifest = observed.run.manifest
    shares = utilisations(observed.db, manifest, span)
    places = cores(observed, [name for name in _cpus(observed) if name + BUSY in shares])
    busy: list[tuple[tuple[str, ...], str | None, Window]] = []
    for names, parts in places.sets(span).items():
        if names:
            share = np.mean([shares[name + BUSY] for name in names], axis=0)
            share = np.where(_inside(parts, span, share.size), share, 0.0)
            busy += [(names, None, window) for window in _stretches(share, span)]
    for server, share in _threads(observed, span).items():
        for window in _stretches(share, span):
            busy.append((places.of(server, window.start_ns), server, window))
    found: list[Saturated] = []
    for names, owner, window in busy:
        asked = requests_of(manifest, places.systems(names, window.start_ns))
        late = _late(observed, window, asked)
        found += [Saturated(names, _stall(observed, part, asked), owner) for part in late]
    return found


def _inside(parts: Sequence[Span], span: Span, count: int) -> Bools:
    """Say of each window of the span whether its middle is in one of the parts."""
    middle_ns = span.start_ns + WINDOW_NS * np.arange(count) + WINDOW_NS // 2
    inside = [(each.start_ns <= middle_ns) & (middle_ns < each.end_ns) for each in parts]
    found: Bools = np.any(inside, axis=0)
    return found


BUSY = " busy"


def _cpus(observed: Observed) -> list[str]:
    """Return the CPUs that were sampled: a disk has a busy share as well."""
    found = columns(observed.db, "SELECT DISTINCT subject FROM cpu ORDER BY subject", {})
    return [str(name) for name in found["subject"]]


def _threads(observed: Observed, span: Span) -> dict[str, Floats]:
    """Return for what share of each window the servers' busiest threads ran."""
    signals = Signals(observed.run, observed.db)
    count = span.duration_ns // WINDOW_NS
    edge_ns = span.start_ns + WINDOW_NS * np.arange(count + 1, dtype=np.int64)
    threads = {name: signals.busiest_thread(name) for name in observed.run.manifest.servers}
    return {name: each.means(edge_ns) for name, each in threads.items() if each is not None}


def _stretches(busy: Floats, span: Span) -> list[Window]:
    if busy.size < SMOOTH:
        return []
    smooth = np.convolve(np.nan_to_num(busy), np.full(SMOOTH, 1 / SMOOTH), mode="same")
    start_ns = span.start_ns
    windows = [
        Window(start_ns=start_ns + WINDOW_NS * a, end_ns=start_ns + WINDOW_NS * b)
        for a, b in _joined(stretches(smooth >= SATURATED).tolist(), busy)
    ]
    return [each for each in windows if each.end_ns - each.start_ns >= LEAST_NS]


def _joined(parts: list[tuple[int, int]], busy: Floats) -> list[tuple[int, int]]:
    """Join each to the one before over a short break, as long as the whole of it stays full."""
    joined: list[tuple[int, int]] = []
    for start, end in parts:
        before, until = joined[-1] if joined else (start, start)
        near = start - until <= BREAK_NS // WINDOW_NS
        if joined and near and np.nanmean(busy[before:end]) >= WHOLE:
            joined[-1] = before, end
        else:
            joined.append((start, end))
    return joined


def _late(observed: Observed, window: Window, asked: str) -> list[Window]:
    """Return the parts of the window, two seconds and more, in which these requests ended late.

    Where none ends in a second, those tell that end in the next in which some do: they were under
    way; after the last of these, those that end after the window.
    """
    count = -(-(window.end_ns - window.start_ns) // BREAK_NS)
    found = columns(
        observed.db,
        f"""SELECT if(end_ns > $end, $count, least((end_ns - $start) // $width, $count - 1))
                AS second,
            median((end_ns - intended_ns) / greatest(quick_ns, 1)) AS times
        FROM {asked} JOIN {no_load_times(asked)} USING (interaction)
        WHERE end_ns > $start AND intended_ns < $end GROUP BY second""",
        {"start": window.start_ns, "end": window.end_ns, "width": BREAK_NS, "count": count},
    )
    times = np.full(count + 1, np.inf)  # what never ends is late
    times[found["second"].astype(np.int64)] = found["times"]
    parts = window.start_ns + BREAK_NS * stretches(_filled(times)[:count] >= LATE)
    windows = [Window(start_ns=a, end_ns=min(b, window.end_ns)) for a, b in parts.tolist()]
    return [each for each in windows if each.end_ns - each.start_ns >= LEAST_NS]


def _filled(times: Floats) -> Floats:
    """Give each second in which none ended what the next has in which one did."""
    known = np.where(np.isfinite(times), np.arange(times.size), times.size - 1)
    return times[np.minimum.accumulate(known[::-1])[::-1]]


def _stall(observed: Observed, window: Window, asked: str) -> Stall:
    found = row(
        observed.db,
        f"""SELECT count(*) AS count, max(end_ns - intended_ns) AS longest_ns,
            sum(least(end_ns, $end) - greatest(intended_ns, $start))::BIGINT AS total_ns
        FROM {asked} WHERE end_ns > $start AND intended_ns < $end""",
        {"start": window.start_ns, "end": window.end_ns},
    )
    return Stall(
        server=USERS,
        window=window,
        core=window,
        waiting=found["count"],
        longest_ns=found["longest_ns"] or 0,
        total_ns=found["total_ns"] or 0,
        toward={},
    )
