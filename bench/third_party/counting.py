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
MOST_NS = 1 << 62
BEFORE_NS = 1_000_000_000
"""The servers are idle before the load starts, and some logs have whole seconds."""
AFTER_NS = 10_000_000_000
"""Servers go on for a while with what was under way as the load ended, and nothing else comes."""


@dataclass(frozen=True)
class Count:
    """Visits at one server and its own count of them; the bar holds both ways."""

    server: str
    visits: int
    logged: int

    @property
    def ratio(self) -> float:
        """Visits for each request that the server logged."""
        return self.visits / self.logged if self.logged else 0.0

    @property
    def holds(self) -> bool:
        """Whether neither lacks more than one in a thousand of what the other has."""
        return self.logged > 0 and BAR <= self.ratio <= 1 / BAR


def counts(application: Application, run: Path) -> list[Count]:
    """Compare each server that has a truth, while the load was on."""
    begin, end = window(run)
    return [
        Count(server, _visits(run, server, truth, begin, end), logged)
        for server, truth in application.truths.items()
        for logged in [_logged(application.name, run, server, truth, begin, end)]
    ]


def window(run: Path) -> tuple[int, int]:
    """Return the nanoseconds between which the load was on."""
    phases = manifests.read(run).phases
    return phases[0].start_ns, phases[-1].end_ns


def _visits(run: Path, server: str, truth: Truth, begin: int, end: int) -> int:
    moment = {
        "end": "coalesce(departure_ns, closed_ns, request_end_ns)",
        "start": "arrival_ns",
    }[truth.stamp]
    if truth.format in ("untimed", "counters"):
        begin, end = 0, MOST_NS
    row = duckdb.execute(
        f"""SELECT count(*) FROM read_parquet($file) WHERE server = $server
        AND {moment} BETWEEN $begin AND $end
        AND regexp_matches(label, $only) AND NOT regexp_matches(label, $without)""",
        {
            "file": str(run / "visits.parquet"),
            "server": f"{server}.1",
            "begin": begin - BEFORE_NS,
            "end": end + AFTER_NS,
            "only": truth.only.pattern if truth.only else "",
            "without": truth.without.pattern if truth.without else "^$",
        },
    ).fetchone()
    return 0 if row is None else int(row[0])


def _logged(application: str, run: Path, server: str, truth: Truth, begin: int, end: int) -> int:
    if truth.log is None:
        row = duckdb.execute(
            """SELECT coalesce(sum(commands), 0) FROM read_parquet($file)
            WHERE subject = $server AND t_ns - dt_ns >= $begin AND t_ns - dt_ns <= $end""",
            {
                "file": str(run / "cache.parquet"),
                "server": f"{server}.1",
                "begin": begin - BEFORE_NS,
                "end": end + AFTER_NS,
            },
        ).fetchone()
        return 0 if row is None else int(row[0])
    file = run / "logs" / f"{server}.1" / "logs" / truth.log
    if not file.exists():
        file = BUILD / application / truth.log
    if truth.format == "counters":
        lines = file.read_text("utf-8", "replace").splitlines()
        return sum(int(each.split("\t")[0]) for each in lines if truth.line.search(each))
    if truth.format == "untimed":
        begin, end = 0, MOST_NS
    times = _times(file, truth)
    return sum(begin - BEFORE_NS <= each <= end + AFTER_NS for each in times)


def _times(file: Path, truth: Truth) -> Iterator[int]:
    """Yield when each logged request was, in nanoseconds. A line without a time has that of the
    line before, as in MariaDB's general log.
    """
    last = 0
    for line in file.read_text("utf-8", "replace").splitlines():
        found = truth.line.search(line)
        if found is None:
            continue
        if truth.format != "untimed" and found["time"]:
            last = _nanoseconds(found["time"], truth.format)
        yield last


def _nanoseconds(text: str, form: str) -> int:
    if form == "epoch":
        return int(float(text) * 1e9)
    if form == "milliseconds":
        return int(text) * 1_000_000
    moment = datetime.strptime(text, form)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1e9)
