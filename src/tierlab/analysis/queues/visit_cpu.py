"""How much CPU time did a server's visits use, by the clocks of the threads that served them?"""

from typing import Final

from tierlab.analysis.query import IN_SPAN, Connection, bounds, rows
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

NEARLY_ALL: Final = 0.95
"""From this share of the visits on, those that were measured stand for all."""


class VisitCpu(Result):
    """The visits that left a server in a span: how many, how many of them have their CPU time
    measured, and the CPU seconds of these.
    """

    visits: int
    measured: int
    cpu_s: float

    @property
    def is_known(self) -> bool:
        """Whether nearly all visits were measured."""
        return self.measured > 0 and self.measured >= NEARLY_ALL * self.visits


def visit_cpu(db: Connection, span: Span) -> dict[str, VisitCpu]:
    """Return the visits' CPU time by server."""
    found = rows(
        db,
        f"""SELECT server, count(*) AS visits, count(cpu_ns) AS measured,
            coalesce(sum(cpu_ns), 0)::DOUBLE / 1e9 AS cpu_s
        FROM visits WHERE departure_ns {IN_SPAN} GROUP BY server""",
        bounds(span),
    )
    return {each.pop("server"): VisitCpu(**each) for each in found}
