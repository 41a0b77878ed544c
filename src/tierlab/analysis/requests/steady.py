"""What a benchmark's rules are judged by: the operations of the steady state, as Faban counts them.

An operation counts only if it began after the ramp-up and ended before the ramp-down. Its time runs
from when it really began, late or not: what a late driver hides its own figures show.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tierlab.analysis.query import Connection, row, rows
from tierlab.analysis.requests.buckets import BUCKETS, Buckets
from tierlab.analysis.requests.responses import FAILED
from tierlab.analysis.span import Span
from tierlab.tables.rules import Check, RunRules

_TIME_NS = "(end_ns - start_ns)"
_STEADY = "start_ns >= $start AND end_ns < $end"


@dataclass(frozen=True)
class Operation:
    """Operations of one name that succeeded (``buckets`` has their times) or failed, and the delays
    after them: how many lay in the steady state, and the means of those seen and those drawn.
    """

    count: int = 0
    failed: int = 0
    mean_s: float | None = None
    max_s: float | None = None
    buckets: list[int] = field(default_factory=lambda: [0] * BUCKETS)
    delays: int = 0
    delay_s: float | None = None
    drawn_s: float | None = None


@dataclass(frozen=True)
class Steady:
    """The steady state: its length, its operations by name, and what each check's operation did on
    average (None where none succeeded, or it was not measured).
    """

    seconds: float
    operations: dict[str, Operation]
    measures: dict[str, float | None]

    @property
    def throughput(self) -> float:
        """Successful operations per second."""
        return sum(each.count for each in self.operations.values()) / self.seconds


def steady(db: Connection, span: Span, rules: RunRules, system: str | None = None) -> Steady | None:
    """Count the operations of the steady state, of one of several systems if it is named; None when
    there were none at all.
    """
    buckets = Buckets(max(each.limit_ns for each in rules.operations.values()))
    bounds: dict[str, object] = {"start": span.start_ns, "end": span.end_ns}
    of = ""
    if system is not None:
        of, bounds["system"] = " AND system = $system", system
    counted = rows(
        db,
        f"""SELECT interaction, {buckets.sql(_TIME_NS)} AS bucket, {FAILED} AS failed,
            count(*) AS count, sum({_TIME_NS}) / 1e9 AS sum_s, max({_TIME_NS}) / 1e9 AS max_s
            FROM requests WHERE {_STEADY}{of} GROUP BY interaction, bucket, failed""",
        bounds,
    )
    if not counted:
        return None
    delays = {each["interaction"]: each for each in _delays(db, rules, of, bounds)}
    names = dict.fromkeys([*rules.operations, *(each["interaction"] for each in counted)])
    return Steady(
        seconds=span.seconds,
        operations={
            name: _operation([e for e in counted if e["interaction"] == name], delays.get(name))
            for name in names
        },
        measures={each.name: _measure(db, each, of, bounds) for each in rules.checks},
    )


def _operation(counted: list[dict[str, Any]], delays: dict[str, Any] | None) -> Operation:
    done = [each for each in counted if not each["failed"]]
    buckets = [0] * BUCKETS
    for each in done:
        buckets[each["bucket"]] += each["count"]
    count = sum(buckets)
    found = Operation(
        count=count,
        failed=sum(each["count"] for each in counted if each["failed"]),
        mean_s=sum(each["sum_s"] for each in done) / count if count else None,
        max_s=max((each["max_s"] for each in done), default=None),
        buckets=buckets,
    )
    if delays is None:
        return found
    seen = {key: delays[key] for key in ("delays", "delay_s", "drawn_s")}
    return replace(found, **seen)


def _delays(
    db: Connection, rules: RunRules, of: str, bounds: dict[str, object]
) -> list[dict[str, Any]]:
    """The delays by the operation that they came after, whether or not it succeeded."""
    since = {"start": "start_ns", "end": "end_ns"}[rules.delay_from]
    return rows(
        db,
        f"""SELECT before AS interaction, count(*) AS delays,
            avg(start_ns - since_ns) / 1e9 AS delay_s, avg(delay_ns) / 1e9 AS drawn_s
            FROM (SELECT *, lag({since}) OVER own AS since_ns, lag(interaction) OVER own AS before
                FROM requests WHERE TRUE{of} WINDOW own AS (PARTITION BY "user" ORDER BY start_ns))
            WHERE delay_ns IS NOT NULL AND since_ns >= $start AND start_ns < $end
            GROUP BY before""",
        bounds,
    )


def _measure(db: Connection, check: Check, of: str, bounds: dict[str, object]) -> float | None:
    """What the operation did on average."""
    asked = {**bounds, "operation": check.operation}
    what: str = check.of
    if check.of == "step":
        asked["step"] = check.step
        what = "coalesce(list_contains(string_split(steps, '+'), $step), FALSE)::INT"
    found: float | None = row(
        db,
        f"""SELECT avg({what}) AS mean FROM requests
            WHERE interaction = $operation AND NOT {FAILED} AND {_STEADY}{of}""",
        asked,
    )["mean"]
    return found
