"""How many visits Tierlab saw at each server, beside how many the server itself logged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb
from declaration import Application, Truth
from preparing import BUILD

from tierlab.tables import manifest as manifests

BAR = 0.999
SECOND_NS = 1_000_000_000
BEFORE_NS = SECOND_NS
"""The servers are idle before the load starts, and some logs have whole seconds."""
AFTER_NS = 10_000_000
"""How long after the last message that was captured a server may write it down."""
MOST_NS = 1 << 62


@dataclass(frozen=True)
class Count:
    """Visits at one server and its own count of them.

    Of the visits, ``cut`` were not answered before the users went away: some servers log these,
    others log them later or never.
    """

    server: str
    visits: int
    logged: int
    cut: int = 0

    def __str__(self) -> str:
        """Return both counts, and what was cut where that makes the difference."""
        cut = f" ({self.cut:,} cut)" if self.cut and self.visits != self.logged else ""
        return f"{self.server} {self.visits:,}/{self.logged:,}{cut}"

    @property
    def ratio(self) -> float:
        """Visits for each logged request; of those cut, as many as the server logged."""
        return self._as_logged / self.logged if self.logged else 0.0

    @property
    def _as_logged(self) -> int:
        return min(self.visits, max(self.visits - self.cut, self.logged))

    @property
    def holds(self) -> bool:
        """Whether neither lacks more than one in a thousand of what the other has."""
        return self.logged > 0 and BAR <= self.ratio <= 1 / BAR


@dataclass(frozen=True)
class Span:
    """What is compared: from a moment to another."""

    begin_ns: int
    end_ns: int

    def has(self, moment_ns: int) -> bool:
        """Whether the moment lies in it."""
        return self.begin_ns <= moment_ns <= self.end_ns


def counts(application: Application, run: Path) -> list[Count]:
    """Compare each server that has a truth, while the load was on."""
    load = window(run)
    # From a whole second on: a log of whole seconds says of each request's time where that began.
    begin_ns = (load.begin_ns - BEFORE_NS) // SECOND_NS * SECOND_NS
    around = Span(begin_ns, _captured_until(run, load) + AFTER_NS)
    found = []
    for server, truth in application.truths.items():
        span = around if truth.timed else Span(0, MOST_NS)
        if truth.log is None:
            span, count = _commands(run, server, load)
        else:
            log = run / "logs" / f"{server}.1" / "logs" / truth.log
            log = log if log.exists() else BUILD / application.name / truth.log
            count = logged(log, truth, span)
        every = _visits(run, server, truth, span)
        cut = _visits(run, server, truth, span, "departure_ns IS NULL")
        found.append(Count(server, every, count, cut))
    return found


def window(run: Path) -> Span:
    """Return when the load was on."""
    phases = manifests.read(run).phases
    return Span(phases[0].start_ns, phases[-1].end_ns)


def _captured_until(run: Path, load: Span) -> int:
    """Return the time of the last message. Servers may go on with what was under way as the load
    ended, until long after the capture has."""
    last = one(
        "SELECT max(greatest(request_end_ns, departure_ns)) FROM read_parquet($file)",
        file=str(run / "visits.parquet"),
    )
    return max(last, load.end_ns)


def one(query: str, **values: str | int) -> int:
    """Return the only value that a query has."""
    row = duckdb.execute(query, values).fetchone()
    return 0 if row is None else int(row[0])


def _visits(run: Path, server: str, truth: Truth, span: Span, which: str = "true") -> int:
    ended = "coalesce(departure_ns, closed_ns, request_end_ns)"
    return one(
        f"""SELECT count(*) FROM read_parquet($file) WHERE server = $server AND {which}
        AND {ended if truth.stamp == "end" else "arrival_ns"} BETWEEN $begin AND $end
        AND regexp_matches(label, $only) AND NOT regexp_matches(label, $without)""",
        file=str(run / "visits.parquet"),
        server=f"{server}.1",
        begin=span.begin_ns,
        end=span.end_ns,
        only=truth.only,
        without=truth.without,
    )


def _commands(run: Path, server: str, load: Span) -> tuple[Span, int]:
    """Return from which of the sampler's polls to which the load was on, and the commands then."""
    row = duckdb.execute(
        """SELECT min(t_ns - dt_ns), max(t_ns), sum(commands) FROM read_parquet($file)
        WHERE subject = $server AND t_ns - dt_ns BETWEEN $begin AND $end""",
        {
            "file": str(run / "cache.parquet"),
            "server": f"{server}.1",
            "begin": load.begin_ns,
            "end": load.end_ns,
        },
    ).fetchone()
    if row is None or row[0] is None:
        return load, 0
    return Span(int(row[0]), int(row[1])), int(row[2])


def logged(log: Path, truth: Truth, span: Span) -> int:
    """Count the requests that a server's log has in the span; all of it where it has no times."""
    lines = log.read_text("utf-8", "replace").splitlines()
    if truth.format == "counters":
        return sum(int(found["count"]) for each in lines if (found := truth.pattern.search(each)))
    if truth.format == "untimed":
        return sum(bool(truth.pattern.search(each)) for each in lines)
    return sum(map(span.has, _times(lines, truth)))


def _times(lines: list[str], truth: Truth) -> Iterator[int]:
    """Yield when each logged request was, in nanoseconds."""
    for line in lines:
        if found := truth.pattern.search(line):
            yield _nanoseconds(found["time"], truth.format)


def _nanoseconds(text: str, form: str) -> int:
    if form == "epoch":
        return int(float(text) * 1e9)
    if form == "milliseconds":
        return int(text) * 1_000_000
    moment = datetime.strptime(text, form)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e9)
