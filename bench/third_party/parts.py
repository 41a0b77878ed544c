"""Whether what was done to an application is in the parts of its visits' time.

One user, so that one request is under way at a time, and four things done one after the other. How
long each should show comes from elsewhere: from the truth beside the run folder, from the called
server's visits, and from the kernel's accounts of the server's control group.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import duckdb
from declaration import Application

BAR = 0.95
LEAST_S = 0.1
"""Less than this of something tells nothing about it."""

HELD = "least(departure_ns, $end) - greatest(arrival_ns, $begin)"
WITHIN = "arrival_ns < $end AND departure_ns > $begin"

CALLEE, FREEZE = "calls", "freeze"
PARTS = {FREEZE: "stopped", CALLEE: "calls", "quota": "throttled", "cpu": "runnable"}
"""What was done, and the part that should have it."""


@dataclass(frozen=True)
class Appearance:
    """Something that was done at a server: how long it held requests, and how much of that their
    part has. ``share`` is None where it held them for too short a time.
    """

    done: str
    server: str
    part: str
    expected_s: float
    found_s: float

    @property
    def share(self) -> float | None:
        """The part's share of what it should have."""
        if self.expected_s < LEAST_S:
            return None
        return self.found_s / self.expected_s

    def __str__(self) -> str:
        """Return what was done where, and the share."""
        share = "too short" if self.share is None else f"{self.share:.1%}"
        return f"{self.done} at {self.server}: {self.part} {share}"


def disturbances(application: Application) -> str:
    """Return what is done to the two servers of an application, for its experiment file."""
    server, callee = application.parts
    done = [
        (FREEZE, server, 'duration = "1s"'),
        (FREEZE, callee, 'duration = "1s"'),
        ("quota", server, 'duration = "2s"\ncores = 0.2'),
        ("cpu", server, 'duration = "2s"\nthreads = 4'),
    ]
    return "".join(
        f'\n[[disturb]]\nclass = "{name}"\non = "{on}"\nat = "{4 + 3 * at}s"\n{keys}\n'
        for at, (name, on, keys) in enumerate(done)
    )


def appearances(application: Application, run: Path) -> list[Appearance]:
    """Return how long each thing that was done held requests, and what their parts say."""
    server, callee = application.parts
    lines = (run.with_name(f"{run.name}.truth") / "truth.jsonl").read_text("utf-8").splitlines()
    found = []
    for true in map(json.loads, lines):
        if not true["done"]:
            continue
        done = CALLEE if true["subject"] == callee else true["class"]
        span = {"begin": true["start_ns"], "end": true["end_ns"]}
        expected_ns, found_ns = _times(run, done, server, callee, span)
        name = f"{true['class']} of {callee}" if done == CALLEE else true["class"]
        found.append(Appearance(name, server, PARTS[done], expected_ns / 1e9, found_ns / 1e9))
    return found


def _times(
    run: Path, done: str, server: str, callee: str, span: dict[str, int]
) -> tuple[float, float]:
    """Return how long it held the server's requests, and the sum of their parts, in nanoseconds."""
    own = f"read_parquet($visits) WHERE server = $server AND cpu_ns IS NOT NULL AND {WITHIN}"
    told = {"visits": str(run / "visits.parquet"), "server": server, **span}
    if done == FREEZE:
        return time_in_part(run, server, PARTS[FREEZE], span)
    if done == CALLEE:
        # A request waits while its call is at the frozen server.
        return _row(
            f"""SELECT sum(ns), sum(least(calls_ns + connecting_ns, ns))
            FROM (SELECT visit, calls_ns, connecting_ns FROM {own}) JOIN (
                SELECT parent AS visit, sum({HELD}) AS ns FROM read_parquet($visits)
                WHERE server = $callee AND {WITHIN} GROUP BY parent
            ) USING (visit)""",
            {**told, "callee": callee},
        )
    if done == "quota":
        # Control groups, cpu.stat: throttled_usec.
        account, kept = "sum(throttled_ns)", f"read_parquet('{run}/domain.parquet')"
    else:
        # Pressure stall information: the time in which some task of the group waited for a CPU.
        account, kept = 'sum("some" * dt_ns)', f"read_parquet('{run}/pressure.parquet')"
        kept += " WHERE resource = 'cpu'"
    return _row(
        f"""SELECT (SELECT {account} FROM (FROM {kept}) WHERE subject = $server
                    AND t_ns BETWEEN $begin AND $end),
            (SELECT sum({PARTS[done]}_ns) FROM {own})""",
        told,
    )


def time_in_part(run: Path, server: str, part: str, span: dict[str, int]) -> tuple[float, float]:
    """Return how long a server's visits were there within the span, and how much of that is in a
    part of theirs, in nanoseconds.
    """
    return _row(
        f"""SELECT sum({HELD}), sum(least({part}_ns, {HELD})) FROM read_parquet($visits)
        WHERE server = $server AND cpu_ns IS NOT NULL AND {WITHIN}""",
        {"visits": str(run / "visits.parquet"), "server": server, **span},
    )


def _row(query: str, told: dict[str, str | int]) -> tuple[float, float]:
    with duckdb.connect() as own:
        expected, found = own.execute(query, told).fetchone() or (0, 0)
    return float(expected or 0), float(found or 0)
