"""How fast was each of several systems on one machine?"""

from collections.abc import Mapping

from tierlab.analysis.facts import shape_of
from tierlab.analysis.query import Connection
from tierlab.analysis.requests.responses import Responses, responses
from tierlab.analysis.requests.run_rules import RunVerdict, run_verdict
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest


class SystemFigures(Result):
    """One of several systems: its load as ``Facts`` have it, what its users saw of it, and whether
    it passed by its benchmark's rules.
    """

    name: str
    workload: str
    users: int | None
    rate: float | None
    responses: Responses | None
    rules: RunVerdict | None = None
    speed: float | None = None
    shape: str | None = None


def by_system(
    db: Connection, span: Span, manifest: Manifest, there: Mapping[str, float]
) -> list[SystemFigures]:
    """Return each system's figures, in the order of the experiment; none where there is one.

    ``there`` is how many users each had on average.
    """
    return [
        SystemFigures(
            name=name,
            workload=part.workload,
            users=part.load.get("users"),
            rate=part.load.get("rate"),
            responses=responses(db, span, name),
            rules=run_verdict(db, span, part.rules, there.get(name), name),
            speed=part.load.get("speed"),
            shape=shape_of(part.load),
        )
        for name, part in manifest.systems.items()
    ]
