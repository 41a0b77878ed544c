"""Sampled evidence as step functions of time, asked for the mean over a window."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import duckdb
import numpy as np

from tierlab.analysis.query import Bools, Connection, Floats, Ints, columns
from tierlab.diagnosis.busiest_threads import Thread, busiest_threads
from tierlab.diagnosis.finding import Window
from tierlab.tables.run import Run

LEAST_CORES = 0.0005
"""A process that usually uses less is not what answers requests."""

FEWEST = 20
"""Of fewer ticks a median says little."""

MOST = 0.8
"""Of a tick's length: a tick that lies in a window for so much of it tells of the window."""

LEAST_LEFT = 0.25
"""Of a share of time that is usually nearer to all of it."""


@dataclass(frozen=True)
class Stretches:
    """Stretches of time in order, none of which overlap."""

    start_ns: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    end_ns: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @classmethod
    def of(cls, windows: Sequence[Window]) -> "Stretches":
        """Join windows that overlap."""
        ordered = sorted(windows, key=lambda each: each.start_ns)
        start = np.array([each.start_ns for each in ordered], dtype=np.int64)
        reach = np.maximum.accumulate(np.array([each.end_ns for each in ordered], dtype=np.int64))
        first = np.append(True, start[1:] > reach[:-1])[: start.size]
        return cls(start[first], reach[np.append(first[1:], True)[: start.size]])

    def touch(self, start_ns: Ints, end_ns: Ints) -> Bools:
        """Say of each interval whether any of it lies in a stretch."""
        begun = np.searchsorted(self.start_ns, end_ns, side="left")
        over = np.searchsorted(self.end_ns, start_ns, side="right")
        return np.asarray(begun > over)


@dataclass(frozen=True)
class Signal:
    """One figure of one subject: ``value[i]`` holds from ``start_ns[i]`` to ``end_ns[i]``.

    ``stalled`` is when any server kept requests waiting: the rest is the run's quiet time.
    """

    start_ns: Ints
    end_ns: Ints
    value: Floats
    stalled: Stretches = field(default_factory=Stretches)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The integral of the value up to each tick's end, and the time measured up to there."""
        length = (self.end_ns - self.start_ns).astype(np.float64)
        return np.cumsum(self.value * length), np.cumsum(length)

    def mean(self, window: Window) -> float | None:
        """Return the time-weighted mean over the window; None where nothing was measured."""
        ticks = self._overlapping(window)
        part = np.minimum(self.end_ns[ticks], window.end_ns) - np.maximum(
            self.start_ns[ticks], window.start_ns
        )
        total = float(part.sum())
        return float((part * self.value[ticks]).sum() / total) if total > 0 else None

    def means(self, edge_ns: Ints) -> Floats:
        """Return the time-weighted mean between each edge and the next; NaN: not measured."""
        totals, times = self._sums
        knots = (np.stack([self.start_ns, self.end_ns], axis=1).ravel() - edge_ns[0]).astype(float)
        at = (edge_ns - edge_ns[0]).astype(float)
        total, time = (
            np.diff(np.interp(at, knots, np.stack([np.append(0, each[:-1]), each], axis=1).ravel()))
            for each in (totals, times)
        )
        measured = time >= 1.0
        return np.where(measured, total / np.where(measured, time, 1.0), np.nan)

    def at_most(self, window: Window) -> float | None:
        """Return the largest mean over the window that a share of time can have had, if all of it
        that a tick has lay in the window; None where nothing was measured.
        """
        ticks = self._overlapping(window)
        start, end = self.start_ns[ticks], self.end_ns[ticks]
        overlap = np.minimum(end, window.end_ns) - np.maximum(start, window.start_ns)
        total = overlap.sum()
        if total <= 0:
            return None
        return float(np.minimum((end - start) * self.value[ticks], overlap).sum() / total)

    def within(self, window: Window) -> Floats:
        """Return the values of the ticks that overlap the window."""
        return self.value[self._overlapping(window)]

    def covering(self, window: Window) -> Window | None:
        """Return the stretch of the ticks that overlap the window; None where none does."""
        ticks = self._overlapping(window)
        if ticks.start >= ticks.stop:
            return None
        start_ns, end_ns = self.start_ns[ticks.start], self.end_ns[ticks.stop - 1]
        return Window(start_ns=int(start_ns), end_ns=int(end_ns))

    def _overlapping(self, window: Window) -> slice:
        first = int(self.end_ns.searchsorted(window.start_ns, side="right"))
        last = int(self.start_ns.searchsorted(window.end_ns, side="left"))
        return slice(first, max(first, last))

    def read_in(self, window: Window) -> Floats:
        """Return what was read in the window: levels hold at their tick's end only."""
        first, last = np.searchsorted(self.end_ns, [window.start_ns, window.end_ns], side="right")
        return self.value[first:last]

    def levels(self, window: Window) -> Floats:
        """Return what was read in the window; of fewer than two readings, with the tick that it
        ends in, which is read a little after it.
        """
        read = self.read_in(window)
        return read if read.size > 1 else self.within(window)

    def inside(self, window: Window) -> Floats:
        """Return the values of the ticks that lie in the window for most of their length."""
        overlap = np.minimum(self.end_ns, window.end_ns) - np.maximum(
            self.start_ns, window.start_ns
        )
        return self.value[overlap >= MOST * (self.end_ns - self.start_ns)]

    @cached_property
    def usual(self) -> float:
        """The median over the run's quiet time; over the whole run where that is too short. Where
        even that is, nothing is known to be usual: 0.
        """
        quiet = self.value[~self.stalled.touch(self.start_ns, self.end_ns)]
        known = quiet if quiet.size >= FEWEST else self.value
        return float(np.median(known)) if known.size >= FEWEST else 0.0

    def beyond(self, window: Window) -> float | None:
        """Return by how much the window's mean is beyond what is usual, 0 where it is not."""
        mean = self.mean(window)
        return None if mean is None else max(0.0, mean - self.usual)

    def share_beyond(self, window: Window) -> float | None:
        """Return the same of a share of time, as a share of the time that is usually left: half of
        it where 0.7 is seen and 0.4 is usual. Where next to none is left, chance would use it up.
        """
        beyond = self.beyond(window)
        return None if beyond is None else beyond / max(LEAST_LEFT, 1.0 - self.usual)

    def as_strong(self, window: Window, *, low: bool = False) -> float | None:
        """Return the share of equally long windows whose mean is as high (or as low) as this one's.

        Windows begin at every tick (all circular shifts by whole ticks); the share is
        (1 + as strong) / (1 + all), so never zero (B. Phipson and G. Smyth, 2010, "Permutation
        P-values should never be zero").
        """
        here = self.mean(window)
        if here is None:
            return None
        starts = self.start_ns
        totals, times = self._sums
        last = np.searchsorted(self.end_ns, starts + (window.end_ns - window.start_ns), side="left")
        last = np.minimum(last, len(starts) - 1)
        before = np.arange(len(starts)) - 1
        total = totals[last] - np.where(before >= 0, totals[before], 0.0)
        time = times[last] - np.where(before >= 0, times[before], 0.0)
        means = total / time
        strong = means <= here + 1e-12 if low else means >= here - 1e-12
        return float((1 + np.count_nonzero(strong)) / (1 + len(means)))


class Signals:
    """Every sampled figure of a run, read when first asked for."""

    def __init__(self, run: Run, db: Connection, stalled: Sequence[Window] = ()) -> None:
        self._run, self._db = run, db
        self._stalled = Stretches.of(stalled)
        self._known: dict[tuple[str, str, str], dict[str, Signal]] = {}
        self._columns: dict[str, set[str]] = {}
        self._together: dict[tuple[str, str, tuple[str, ...]], Signal | None] = {}

    def get(self, table: str, value: str, subject: str, where: str = "true") -> Signal | None:
        """Return ``value`` (SQL over the table's columns) of a subject; None: not measured.

        Rows of one subject and tick are summed; a null leaves its tick out.
        """
        key = (table, value, where)
        if key not in self._known:
            self._known[key] = self._read(table, value, where) if self._run.has(table) else {}
        return self._known[key].get(subject)

    def together(self, table: str, value: str, subjects: Sequence[str]) -> Signal | None:
        """Return the sum of a figure over subjects that are sampled in the same ticks; None where
        one of them was not. What it usually is, is known better than of each alone: what moves
        from CPU to CPU is usual at none.
        """
        key = (table, value, tuple(subjects))
        if key not in self._together:
            signals = [self.get(table, value, each) for each in subjects]
            known = [each for each in signals if each is not None]
            self._together[key] = _summed(known) if len(known) == len(signals) else None
        return self._together[key]

    def subjects(self, table: str, value: str, where: str = "true") -> list[str]:
        """Return who has that figure."""
        self.get(table, value, "", where)
        return sorted(self._known[(table, value, where)])

    def busiest_thread(self, subject: str) -> Signal | None:
        """Return the share of time that the thread of a server ran that all its requests need:
        where it is full, idle CPUs are of no use. None: not measured, or each request has one.
        """
        if subject not in self._busiest:
            return None
        process, thread = self._busiest[subject]
        where = f"process = {process} AND thread = {thread}"
        return self.get("process", "run_ns * 1.0 / dt_ns", subject, where)

    @cached_property
    def _busiest(self) -> dict[str, Thread]:
        return busiest_threads(self._db, self._run.manifest.servers)

    def own_processes(self, subject: str) -> Signal | None:
        """Return the cores that a server's own processes used: those of names that use CPU in quiet
        time, and not what works in its domain now and then. None: not measured, or none does.
        """
        own = [name for name in self._names.get(subject, []) if self._works(subject, name)]
        return self._used_by(subject, own) if own else None

    def own_lives(self, subject: str) -> list[Window]:
        """Return from when to when each of the server's own processes was seen, to a second or so;
        nothing where none was looked at.
        """
        lives = self._lives.get(subject, [])
        return [life for name, life in lives if self._works(subject, name)]

    def _works(self, subject: str, name: str) -> bool:
        used = self._used_by(subject, [name])
        return used is not None and used.usual >= LEAST_CORES

    def _used_by(self, subject: str, names: list[str]) -> Signal | None:
        listed = ", ".join("'{}'".format(name.replace("'", "''")) for name in names)
        where = f"thread IS NULL AND name IN ({listed})"
        return self.get("process", "run_ns * 1.0 / dt_ns", subject, where)

    @cached_property
    def _lives(self) -> dict[str, list[tuple[str, Window]]]:
        found = self._db.execute(
            """SELECT subject, name, min(t_ns), max(t_ns) FROM process
            WHERE thread IS NULL GROUP BY subject, name, process"""
        ).fetchall()
        lives: dict[str, list[tuple[str, Window]]] = {}
        for subject, name, first, last in found:
            lives.setdefault(subject, []).append((name, Window(start_ns=first, end_ns=last)))
        return lives

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        found = self._db.execute(
            """SELECT subject, list(DISTINCT name ORDER BY name) FROM process
            WHERE thread IS NULL AND run_ns IS NOT NULL GROUP BY subject"""
        ).fetchall()
        return dict(found)

    def sampled(self, table: str, column: str) -> bool:
        """Say whether a column was looked at, even if nothing was there to be counted."""
        if not self._run.has(table) or f"{table}.{column}" in self._run.manifest.not_measured:
            return False
        if table not in self._columns:
            found = self._db.execute(f'DESCRIBE "{table}"').fetchall()
            self._columns[table] = {name for name, *_ in found}
        return column in self._columns[table]

    def _read(self, table: str, value: str, where: str) -> dict[str, Signal]:
        sql = f"""SELECT subject, t_ns, max(dt_ns) AS dt_ns, sum({value})::DOUBLE AS value
                FROM "{table}" WHERE {where} AND dt_ns > 0 AND ({value}) IS NOT NULL
                GROUP BY subject, t_ns ORDER BY subject, t_ns"""
        try:
            found = columns(self._db, sql, {})
        except (duckdb.BinderException, duckdb.CatalogException):
            return {}  # an older run's table, without that column
        signals = {}
        for name in sorted(set(found["subject"])):
            mine = found["subject"] == name
            end = found["t_ns"][mine]
            # A tick that reaches back into the one before (a clock step) gives way to it.
            start = np.maximum(end - found["dt_ns"][mine], np.append(end[:1] - (1 << 62), end[:-1]))
            signals[str(name)] = Signal(start, end, found["value"][mine], self._stalled)
        return signals


def _summed(signals: Sequence[Signal]) -> Signal | None:
    """Return their sum, tick by tick; None where their ticks are not the same."""
    if not signals or any(not np.array_equal(e.end_ns, signals[0].end_ns) for e in signals):
        return None
    whole: Floats = np.sum([each.value for each in signals], axis=0)
    return Signal(signals[0].start_ns, signals[0].end_ns, whole, signals[0].stalled)
