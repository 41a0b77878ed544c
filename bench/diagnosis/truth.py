"""What was injected, read where the diagnosis cannot look; and whom it delayed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from tierlab.analysis.resources.in_force import InForce
from tierlab.tables import manifest as manifests

LEAST_DELAY_NS = 20_000_000

LEAST_HELD_NS = 50_000_000
"""The shortest bottleneck that the bars speak of."""


@dataclass(frozen=True)
class Injected:
    """A disturbance with its true times; ``number`` is its place in the drawing, from 1.

    ``delayed`` requests were under way meanwhile and late, for whatever reason. ``held`` visits
    waited at the very server that it was done to. ``beside`` are the tiers that it was done to as
    much as to the subject's: a neighbour in nobody's domain is one to all servers on its CPUs.
    """

    number: int
    cause: str
    subject: str
    start_ns: int
    end_ns: int
    delayed: int
    held: int
    beside: frozenset[str] = frozenset()

    @property
    def length_s(self) -> float:
        """How long it lasted."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def tier(self) -> str:
        """The tier that it was done to."""
        return self.subject.partition(".")[0]

    def told_by(self, cause: str, tier: str) -> bool:
        """Say whether that is its cause, and that tier one that it was done to."""
        return cause == self.cause and tier in {self.tier, *self.beside}


def read(run: Path) -> list[Injected]:
    """Return what was injected into a run, in order of time; nothing for a control."""
    file = run.with_name(f"{run.name}.truth") / "truth.jsonl"
    if not file.exists():
        return []
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = [
        Injected(
            number=each["id"],
            cause=each["class"],
            subject=each["subject"],
            start_ns=each["start_ns"],
            end_ns=each["end_ns"],
            delayed=_delayed(run, each["start_ns"], each["end_ns"]),
            held=_held(run, each["subject"], each["start_ns"], each["end_ns"])
            if each["class"] != "memory" or _short_of_memory(run, each)
            else 0,
            beside=_beside(run, each["subject"]) if _outside(each) else frozenset(),
        )
        for each in lines
        if each["done"]
    ]
    return sorted(found, key=lambda each: each.start_ns)


def _outside(happened: dict[str, Any]) -> bool:
    """Say whether it was on the subject's CPUs in nobody's domain."""
    return happened["class"] == "steal" or happened.get("intensity", {}).get("where") == "cores"


def _beside(run: Path, subject: str) -> frozenset[str]:
    """Return the tiers of the servers that may run on a CPU of the subject's; one whose CPUs were
    not read back may run on any.
    """
    manifest = manifests.read(run)
    held = InForce(manifest)
    pus = {name: held.at(name, 0).pus for name in manifest.servers}
    mine = pus.get(subject)
    return frozenset(
        manifest.servers[name].tier
        for name, theirs in pus.items()
        if mine is None or theirs is None or mine & theirs
    )


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


def _held(run: Path, subject: str, start_ns: int, end_ns: int) -> int:
    """Count the subject's visits whose own time within the disturbance was longer than usual by
    50 ms or more: their stay there less that of their calls and their label's median of the same.

    Of two disturbances at once it tells what each did by itself: a request that waits for a server
    above never comes to the one below, and one that waits for a server below is in a call. What
    never came whole (requests that hold workers: 400 or 408, unanswered) was not delayed.
    """
    visits = run / "visits.parquet"
    if not visits.exists():
        return 0
    row = duckdb.execute(
        """WITH visits AS (FROM read_parquet($file)), own AS (
            SELECT mine.visit, any_value(mine.label) AS label,
                any_value(mine.departure_ns - mine.arrival_ns) - coalesce(sum(
                    least(call.departure_ns, mine.departure_ns) - call.arrival_ns), 0) AS own
            FROM visits AS mine LEFT JOIN visits AS call ON call.parent = mine.visit
            WHERE mine.server = $subject GROUP BY mine.visit
        ), usual AS (
            SELECT label, median(own) AS usual FROM own GROUP BY label
        ), there AS (
            SELECT visit, label, greatest(arrival_ns, request_end_ns, $start) AS a,
                least(coalesce(departure_ns, $end), $end) AS d
            FROM visits WHERE server = $subject AND arrival_ns < $end
                AND coalesce(departure_ns, $end) > $start AND request_end_ns < $end
                AND NOT (departure_ns IS NULL AND coalesce(status, 0) IN (400, 408))
        ), calls AS (
            SELECT there.visit, sum(greatest(0, least(coalesce(departure_ns, $end), d)
                - greatest(arrival_ns, a))) AS called
            FROM visits JOIN there ON visits.parent = there.visit GROUP BY ALL
        ) SELECT count(*) FROM there LEFT JOIN calls USING (visit) LEFT JOIN usual USING (label)
        WHERE d - a - coalesce(called, 0) - coalesce(usual, 0) >= $least""",
        {
            "file": str(visits),
            "subject": subject,
            "start": start_ns,
            "end": end_ns,
            "least": LEAST_HELD_NS,
        },
    ).fetchone()
    return 0 if row is None else int(row[0])


def _short_of_memory(run: Path, happened: dict[str, Any]) -> bool:
    """Say whether tasks of the subject waited for memory or for pages from its disk for 50 ms in
    all: a job that takes memory which nobody misses costs its neighbours CPU time only.
    """
    pressure = run / "pressure.parquet"
    if not pressure.exists():
        return True
    row = duckdb.execute(
        """SELECT coalesce(sum(waited), 0) FROM (
            SELECT max("some" * (least(t_ns, $end) - greatest(t_ns - dt_ns, $start))) AS waited
            FROM read_parquet($file)
            WHERE subject = $subject AND resource IN ('memory', 'io')
                AND t_ns > $start AND t_ns - dt_ns < $end GROUP BY t_ns)""",
        {
            "file": str(pressure),
            "subject": happened["subject"],
            "start": happened["start_ns"],
            "end": happened["end_ns"],
        },
    ).fetchone()
    return row is not None and row[0] >= LEAST_HELD_NS
