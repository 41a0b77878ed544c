"""What was injected, read where the diagnosis cannot look; and whom it delayed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb

LEAST_DELAY_NS = 20_000_000


@dataclass(frozen=True)
class Injected:
    """A disturbance with its true times. ``delayed`` requests waited for it."""

    cause: str
    subject: str
    start_ns: int
    end_ns: int
    delayed: int

    @property
    def length_s(self) -> float:
        """How long it lasted."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def tier(self) -> str:
        """The tier that it was done to."""
        return self.subject.partition(".")[0]


def read(run: Path) -> list[Injected]:
    """Return what was injected into a run, in order of time; nothing for a control."""
    file = run.with_name(f"{run.name}.truth") / "truth.jsonl"
    if not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = [
        Injected(
            cause=each["class"],
            subject=each["subject"],
            start_ns=each["start_ns"],
            end_ns=each["end_ns"],
            delayed=_delayed(run, each["start_ns"], each["end_ns"]),
        )
        for each in lines
        if each["done"]
    ]
    return sorted(found, key=lambda each: each.start_ns)


def _delayed(run: Path, start_ns: int, end_ns: int) -> int:
    """Count the requests under way meanwhile that took longer than their page's median by half of
    the disturbance or more, and by 20 ms at least.
    """
    row = duckdb.execute(
        """WITH requests AS (FROM read_parquet($file)), usual AS (
            SELECT interaction, median(end_ns - intended_ns) AS usual FROM requests GROUP BY ALL
        ) SELECT count(*) FROM requests JOIN usual USING (interaction)
        WHERE intended_ns < $end AND end_ns > $start
            AND end_ns - intended_ns - usual >= greatest($least, ($end - $start) / 2)""",
        {
            "file": str(run / "requests.parquet"),
            "start": start_ns,
            "end": end_ns,
            "least": LEAST_DELAY_NS,
        },
    ).fetchone()
    return 0 if row is None else int(row[0])
