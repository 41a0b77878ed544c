"""What was busy? Every sampled resource's mean, peak and saturated ticks, and its timeline."""

from dataclasses import dataclass

from tierlab.analysis.query import Connection, Floats, Ints, bounds, columns, rows
from tierlab.analysis.resources.metrics import METRICS, SATURATED, Metric
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

_IN_TICK = "t_ns > $start AND t_ns <= $end"


class Resource(Result):
    """One metric of one subject over the span.

    ``mean`` is weighted by the ticks' measured lengths; ``peak`` is the highest tick, ``total`` the
    sum of a count. ``saturated`` of ``ticks`` had a share of at least 0.95; None for what is not a
    share.
    """

    table: str
    metric: str
    subject: str
    unit: str
    mean: float
    peak: float
    total: float | None
    ticks: int
    saturated: int | None


@dataclass(frozen=True)
class Timeline:
    """One metric of one subject, tick by tick (NaN: no value).

    ``t_ns`` is when a level was read, and the middle of the tick for what is of the whole tick.
    """

    metric: Metric
    subject: str
    t_ns: Ints
    value: Floats


def _per_tick(metric: Metric) -> str:
    """Return the SQL that gives t_ns, dt_ns, subject and value, one row a tick and subject."""
    return f"""SELECT t_ns, {metric.subject} AS subject, max(dt_ns) AS dt_ns,
        sum({metric.value})::DOUBLE AS value FROM "{metric.table}"
        WHERE {metric.where} AND dt_ns > 0 AND {_IN_TICK} GROUP BY ALL"""


def resources(db: Connection, span: Span) -> list[Resource]:
    """Sum up every metric of :data:`METRICS` over the span; what has no value is left out."""
    results = []
    for metric in METRICS:
        found = rows(
            db,
            f"""SELECT subject, sum(value * dt_ns) / sum(dt_ns) AS mean, max(value) AS peak,
                sum(value) AS total, count(*) AS ticks,
                count(*) FILTER (WHERE value >= {SATURATED}) AS saturated
                FROM ({_per_tick(metric)}) WHERE value IS NOT NULL
                GROUP BY subject ORDER BY subject""",
            bounds(span),
        )
        results += [_resource(metric, each) for each in found]
    return results


def _resource(metric: Metric, found: dict[str, object]) -> Resource:
    return Resource.model_validate(
        {
            **found,
            "table": metric.table,
            "metric": metric.name,
            "unit": metric.unit,
            "total": found["total"] if metric.kind == "count" else None,
            "saturated": found["saturated"] if metric.kind == "share" else None,
        }
    )


def timelines(db: Connection, span: Span, metric: Metric) -> list[Timeline]:
    """Return one metric's timelines over the span, one a subject."""
    at = "t_ns" if metric.kind == "level" else "t_ns - dt_ns // 2"
    found = columns(
        db,
        f"SELECT subject, {at} AS t_ns, value FROM ({_per_tick(metric)}) ORDER BY subject, t_ns",
        bounds(span),
    )
    names = found["subject"]
    results = []
    for name in sorted(set(names)):
        mine = names == name
        results.append(Timeline(metric, str(name), found["t_ns"][mine], found["value"][mine]))
    return results
