"""Published and measured side by side, claim by claim: of one trial, or of a study's cases."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from tierlab.analysis.comparing.ground import Unlike, unlike
from tierlab.analysis.observed import Observed
from tierlab.analysis.result import Result
from tierlab.studies.cases import Case, Cases
from tierlab.studies.measured import Measured, MeasureOf, missing
from tierlab.studies.measures import MEASURES, OVER_CASES
from tierlab.studies.published import Bounds, Claim, Paper, Published
from tierlab.studies.seen import Seen

Verdict = Literal["agrees", "differs", "not measured"]


_NOTHING = "the run recorded nothing"


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


class CaseRow(Result):
    """One of the paper's cases: its name, what is ``printed`` of it, and what is measured of the
    trials that repeat it: ``runs`` are their throughputs in requests a second, ``dnu`` the highest
    while they ran, ``response_s`` the mean response time, and ``cpu_s`` the CPU time for a request
    by tier. None is what was not measured.
    """

    name: str
    printed: dict[str, str]
    trials: int
    runs: list[float]
    throughput: float
    dnu: float | None
    adin: float | None
    mmr: float | None
    response_s: float
    cpu_s: dict[str, float]


class Comparison(Result):
    """A study's rows for one trial, or (``trial`` None) for all of them with the paper's cases, and
    what of the ``ground`` is not the same under all of these. ``format`` rises when a key changes
    its meaning or goes.
    """

    format: int = 1
    experiment: str
    trial: str | None
    paper: Paper
    rows: list[Row]
    cases: list[CaseRow] = Field(default_factory=list)
    ground: list[Unlike] = Field(default_factory=list)

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
        rows=[
            _row(claim, measure, missing(_NOTHING) if seen is None else measure.take(seen))
            for claim in published.claims
            for measure in [MEASURES[claim.measure]]
        ],
    )


def compare_cases(experiment: str, cases: Cases, published: Published) -> Comparison:
    """Measure every published claim over the trials of a study."""
    return Comparison(
        experiment=experiment,
        trial=None,
        paper=published.paper,
        rows=[
            _row(claim, measure, measure.take(cases))
            for claim in published.claims
            for measure in [OVER_CASES[claim.measure]]
        ],
        cases=[_case(case) for case in cases.cases],
        ground=unlike([(each.name, [t.manifest for t in each.trials]) for each in cases.cases]),
    )


def _case(case: Case) -> CaseRow:
    tiers = {server.tier for trial in case.trials for server in trial.manifest.servers.values()}
    cpu = {tier: case.mean([trial.cpu_s(tier) for trial in case.trials]) for tier in sorted(tiers)}
    return CaseRow(
        name=case.name,
        printed=dict(case.printed),
        trials=len(case.trials),
        runs=case.runs.tolist(),
        throughput=float(case.runs.mean()),
        dnu=case.dnu,
        adin=case.instability.adin,
        mmr=case.instability.mmr,
        response_s=case.mean([trial.response_s for trial in case.trials]) or 0.0,
        cpu_s={tier: value for tier, value in cpu.items() if value is not None},
    )


def _row(claim: Claim, measure: MeasureOf[Any], measured: Measured) -> Row:
    return Row(
        figure=claim.figure,
        seen=claim.seen,
        published=claim.value,
        how=measure.how,
        functions=measure.functions,
        measured=measured,
        agree=claim.agrees,
        verdict=verdict(claim.agrees, measured.value),
    )


def verdict(agree: Bounds, value: float | None) -> Verdict:
    """Say how a measured value stands to what was published; None was not measured."""
    if value is None:
        return "not measured"
    return "agrees" if agree.hold(value) else "differs"
