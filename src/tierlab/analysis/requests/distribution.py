"""The figures that describe many durations: count, mean, percentiles, worst."""

from collections.abc import Mapping
from typing import Any

from tierlab.analysis.result import Result

_PERCENTILES = {"p50_s": 0.5, "p90_s": 0.9, "p95_s": 0.95, "p99_s": 0.99, "p999_s": 0.999}


class Distribution(Result):
    """Durations in seconds. Percentiles interpolate linearly between order statistics (type 7 of
    Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996), as numpy's default does.
    """

    count: int
    mean_s: float
    p50_s: float
    p90_s: float
    p95_s: float
    p99_s: float
    p999_s: float
    max_s: float


def aggregates(duration_ns: str, where: str = "true") -> str:
    """Return the SQL aggregates that :func:`from_row` reads.

    ``duration_ns`` is an integer SQL expression in nanoseconds; only rows for which ``where``
    holds count.
    """
    levels = ", ".join(str(level) for level in _PERCENTILES.values())
    only = f"FILTER (WHERE {where})"
    return f"""
        count({duration_ns}) {only} AS dist_count,
        avg({duration_ns}) {only} AS dist_mean,
        quantile_cont({duration_ns}, [{levels}]) {only} AS dist_levels,
        max({duration_ns}) {only} AS dist_max"""


def from_row(row: Mapping[str, Any]) -> Distribution | None:
    """Build the result from a row with :func:`aggregates`; None when no duration was there."""
    if not row["dist_count"]:
        return None
    levels = {
        name: float(level) / 1e9
        for name, level in zip(_PERCENTILES, row["dist_levels"], strict=True)
    }
    return Distribution(
        count=row["dist_count"],
        mean_s=float(row["dist_mean"]) / 1e9,
        max_s=float(row["dist_max"]) / 1e9,
        **levels,
    )
