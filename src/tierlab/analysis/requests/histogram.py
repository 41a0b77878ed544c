"""How are response times spread? A histogram whose last bucket shows a second mode at once."""

from typing import Final

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.requests.responses import FAILED, RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

BOUNDS_MS: Final = (200, 400, 600, 800, 1000, 1500, 2000)
"""Upper bounds: 200 ms wide up to a second, 500 ms up to two, the rest in one last bucket. These
are the buckets of figure 15 in J. Park, "Performance Scalability of N-Tier Application in
Virtualized Cloud Environments" (PhD thesis, Georgia Institute of Technology, 2016), which found two
modes at a moderate average load."""


class Bucket(Result):
    """Successful requests with ``from_s <= response time < to_s``; the last has no ``to_s``."""

    from_s: float
    to_s: float | None
    count: int
    share: float


def histogram(db: Connection, span: Span) -> list[Bucket]:
    """Count the successful requests that ended in the span by bucket; empty when there are none."""
    steps = " + ".join(f"({RESPONSE_NS} >= {bound} * 1000000)::INT" for bound in BOUNDS_MS)
    counted = rows(
        db,
        f"""SELECT {steps} AS bucket, count(*) AS count FROM requests
            WHERE NOT {FAILED} AND end_ns {IN_SPAN} GROUP BY bucket""",
        bounds(span),
    )
    counts = {each["bucket"]: int(each["count"]) for each in counted}
    total = sum(counts.values())
    if not total:
        return []
    lower = (0, *BOUNDS_MS)
    upper = (*BOUNDS_MS, None)
    return [
        Bucket(
            from_s=low / 1000,
            to_s=None if high is None else high / 1000,
            count=counts.get(index, 0),
            share=counts.get(index, 0) / total,
        )
        for index, (low, high) in enumerate(zip(lower, upper, strict=True))
    ]
