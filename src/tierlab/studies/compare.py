"""Published and measured side by side, claim by claim."""

from __future__ import annotations

from typing import Literal

from tierlab.analysis.observed import Observed
from tierlab.analysis.result import Result
from tierlab.studies.measured import Measured, missing
from tierlab.studies.measures import MEASURES
from tierlab.studies.published import Bounds, Claim, Paper, Published
from tierlab.studies.seen import Seen

Verdict = Literal["agrees", "differs", "not measured"]


class Row(Result):
    """One claim: its ``figure``, what was ``seen`` there, the ``published`` value, ``how`` that is
    measured here and by which ``functions``, what was ``measured``, and which values ``agree``.
    """

    figure: str
    seen: str
    published: str
    how: str
    functions: list[str]
    measured: Measured
    agree: Bounds
    verdict: Verdict


class Comparison(Result):
    """A study's rows for one trial. ``format`` rises when a key changes its meaning or goes."""

    format: int = 1
    experiment: str
    trial: str
    paper: Paper
    rows: list[Row]

    def count(self, verdict: Verdict) -> int:
        """Count the rows with a verdict."""
        return sum(row.verdict == verdict for row in self.rows)


def compare(observed: Observed, published: Published) -> Comparison:
    """Measure every published claim in a run."""
    manifest = observed.run.manifest
    seen = Seen(observed, observed.measured) if observed.measured is not None else None
    return Comparison(
        experiment=manifest.experiment,
        trial=manifest.trial,
        paper=published.paper,
        rows=[_row(claim, seen) for claim in published.claims],
    )


def _row(claim: Claim, seen: Seen | None) -> Row:
    measure = MEASURES[claim.measure]
    measured = measure.take(seen) if seen is not None else missing("the run recorded nothing")
    return Row(
        figure=claim.figure,
        seen=claim.seen,
        published=claim.value,
        how=measure.how,
        functions=measure.functions,
        measured=measured,
        agree=claim.agrees,
        verdict=_verdict(claim.agrees, measured.value),
    )


def _verdict(agree: Bounds, value: float | None) -> Verdict:
    if value is None:
        return "not measured"
    return "agrees" if agree.hold(value) else "differs"
