"""Does instability follow the degree of non-uniformity?

A. Zhong et al., "Performance Implications of Non-Uniform VCPU-PCPU Mapping in Virtualization
Environment" (Cluster Computing 2013), tables 2 and 3, figures 6, 10 and 11.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tierlab.analysis.comparing.instability import instability
from tierlab.analysis.query import Floats
from tierlab.analysis.statistics.rank_correlation import rank_correlation
from tierlab.studies.cases import Case, Cases
from tierlab.studies.measured import CaseMeasure, Measured, missing

FEWEST_CASES = 4
"""Of fewer, any order has a high correlation by chance."""
FEWEST_RUNS = 5
EVEN = 1e-9


Figure = Callable[[Case], Floats]
"""What of a case's runs is held against each other."""


def _throughput(case: Case) -> Floats:
    return case.runs


def _times(case: Case) -> Floats:
    return case.times_s


def _repeated(cases: Cases, figure: Figure = _throughput) -> list[Case]:
    """Those that are placed and have runs enough."""
    return [
        case
        for case in cases.cases
        if case.dnu is not None and figure(case).size >= FEWEST_RUNS and figure(case).mean() > 0
    ]


def _split(cases: Cases, figure: Figure) -> tuple[list[Case], list[Case]]:
    """The uniform and the non-uniform cases."""
    found = _repeated(cases, figure)
    return [c for c in found if _dnu(c) <= EVEN], [c for c in found if _dnu(c) > EVEN]


def _correlation(cases: Cases, figure: Figure) -> Measured:
    found = _repeated(cases, figure)
    degrees, adin = [_dnu(case) for case in found], [_adin(case, figure) for case in found]
    if len(found) < FEWEST_CASES or len(set(degrees)) < 2 or len(set(adin)) < 2:
        return missing(f"{len(found)} cases with {FEWEST_RUNS} runs or more are too few")
    ranked = rank_correlation(degrees, adin)
    runs = min(figure(case).size for case in found)
    return Measured(
        value=ranked.statistic,
        words=f"{ranked.statistic:.2f} over {len(found)} cases of {runs} runs or more"
        f" (p = {ranked.pvalue:.2g})",
    )


def _pairs(cases: Cases, figure: Figure) -> Measured:
    uniform, uneven = _split(cases, figure)
    if not uniform or not uneven:
        return missing("there are not both uniform and non-uniform cases that were repeated")
    more = sum(_adin(one, figure) > _adin(other, figure) for one, other in product(uneven, uniform))
    total = len(uniform) * len(uneven)
    return Measured(value=more / total, words=f"{more} of {total} pairs")


def _dnu(case: Case) -> float:
    return case.dnu or 0.0


def _adin(case: Case, figure: Figure = _throughput) -> float:
    return instability(figure(case).tolist()).adin or 0.0


def _highest_mmr(cases: Cases, figure: Figure, *, uniform: bool) -> Measured:
    even, uneven = _split(cases, figure)
    found = [
        (mmr, case.name)
        for case in (even if uniform else uneven)
        if (mmr := instability(figure(case).tolist()).mmr) is not None
    ]
    if not found:
        return missing("no such case was repeated often enough")
    most, name = max(found)
    return Measured(value=most, words=f"{most:.2f}/1, at {name}")


def _turns(cases: Cases) -> Measured:
    """ADIN of the runs on an uneven mapping over that on an even one, in trials that have both."""
    ratios = []
    for case in _repeated(cases):
        even = case.degrees <= EVEN
        if even.all() or not even.any():
            continue
        one, other = (instability(case.runs[part].tolist()).adin for part in (~even, even))
        if one is not None and other:
            ratios.append((one / other, case.name, one, other))
    if not ratios:
        return missing("no case has runs on an even and on an uneven mapping")
    least = min(ratios)
    each = "; ".join(f"{name}: {one:.3g} and {other:.3g}" for _, name, one, other in ratios)
    return Measured(value=least[0], words=f"{least[0]:.1f} times at least ({each})")


def _heavier(cases: Cases) -> Measured:
    found = sorted(_repeated(cases), key=_dnu)
    if len(found) < 2 or not _adin(found[0]):
        return missing("there are not two cases that were repeated")
    ratio = _adin(found[-1]) / _adin(found[0])
    words = ", ".join(f"{_adin(case):.3g} at DNU {_dnu(case):.2f}" for case in found)
    return Measured(value=ratio, words=f"{ratio:.2f} times: {words}")


def _of_cases(
    figure: Figure, what: str
) -> tuple[CaseMeasure, CaseMeasure, CaseMeasure, CaseMeasure]:
    """The four measures of the static mappings, of one figure."""
    return (
        CaseMeasure(
            f"rank correlation (Spearman) of the ADIN of {what} with DNU over the cases",
            (instability, rank_correlation),
            lambda cases: _correlation(cases, figure),
        ),
        CaseMeasure(
            "of all pairs of a uniform and a non-uniform case, how many have the greater ADIN of"
            f" {what} non-uniform",
            (instability,),
            lambda cases: _pairs(cases, figure),
        ),
        CaseMeasure(
            f"highest MMR of {what} in any uniform case",
            (instability,),
            lambda cases: _highest_mmr(cases, figure, uniform=True),
        ),
        CaseMeasure(
            f"highest MMR of {what} in any non-uniform case",
            (instability,),
            lambda cases: _highest_mmr(cases, figure, uniform=False),
        ),
    )


INSTABILITY_FOLLOWS_DNU, UNEVEN_LESS_STABLE, UNIFORM_MMR, UNEVEN_MMR = _of_cases(
    _throughput, "the throughput"
)
TIMES_FOLLOW_DNU, UNEVEN_TIMES_LESS_STABLE, UNIFORM_TIMES_MMR, UNEVEN_TIMES_MMR = _of_cases(
    _times, "the mean response time"
)
UNSTABLE_TURNS = CaseMeasure(
    "ADIN while the mapping is non-uniform over ADIN while it is uniform, the lower of the cases",
    (instability,),
    _turns,
)
HEAVIER_LESS_STABLE = CaseMeasure(
    "ADIN of all runs of the case with the highest DNU over that with the lowest",
    (instability,),
    _heavier,
)
