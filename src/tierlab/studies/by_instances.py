"""What do alike systems beside each other cost one another?

P. Padala et al., "Performance Evaluation of Virtualization Technologies for Server Consolidation"
(HP Labs, 2007), section 6, figures 12 and 13.
"""

from __future__ import annotations

from collections.abc import Callable

from tierlab.analysis.comparing.blocks import blocks
from tierlab.studies.cases import Cases, Trial
from tierlab.studies.measured import CaseMeasure, Measured, missing

SYSTEMS = "system.site.count"
USERS = "system.site.load.users"

Figure = Callable[[Trial], float | None]


def _response(trial: Trial) -> float | None:
    return trial.response_s


def _first_use(trial: Trial) -> float | None:
    return trial.first_use


def _by_users(cases: Cases, systems: int, figure: Figure) -> dict[int, float]:
    """The figure by each system's number of users, where there are so many systems."""
    found = {}
    for case in cases.cases:
        value = case.mean([figure(trial) for trial in case.trials])
        if case.levels.get(SYSTEMS) == systems and value is not None:
            found[int(case.levels[USERS])] = value
    return found


def _two_by_load(cases: Cases) -> Measured:
    found = _by_users(cases, 2, _response)
    if len(found) < 2:
        return missing("two systems were not run at two loads")
    least, most = found[min(found)], found[max(found)]
    return Measured(
        value=most / least,
        words=f"{most / least:.2f}: {1e3 * most:.1f} and {1e3 * least:.1f} ms",
    )


def _longest_of_four(cases: Cases) -> Measured:
    found = _by_users(cases, 4, _response)
    if not found:
        return missing("four systems were not run")
    each = ", ".join(f"{1e3 * value:.1f} at {users} users" for users, value in found.items())
    return Measured(value=1e3 * max(found.values()), words=f"{each}, in ms")


def _four_over_one(cases: Cases) -> Measured:
    one, four = (_by_users(cases, systems, _response) for systems in (1, 4))
    both = one.keys() & four.keys()
    if not both:
        return missing("one system and four were not run at the same load")
    first, last = one[max(both)], four[max(both)]
    return Measured(
        value=last / first,
        words=f"{last / first:.2f}: {1e3 * last:.1f} and {1e3 * first:.1f} ms at {max(both)} users",
    )


def _use_of_four(cases: Cases) -> Measured:
    found = _by_users(cases, 4, _first_use)
    if not found:
        return missing("the web tiers' CPU time was not measured with four systems")
    use = found[max(found)]
    return Measured(value=use, words=f"{use:.2f} PUs at {max(found)} users")


TWO_BY_LOAD = CaseMeasure(
    "mean response time of two systems at the highest load over that at the least",
    (blocks,),
    _two_by_load,
)
LONGEST_OF_FOUR = CaseMeasure(
    "mean response time of four systems at the load where it is longest, in ms",
    (blocks,),
    _longest_of_four,
)
FOUR_OVER_ONE = CaseMeasure(
    "mean response time of four systems over that of one, at the highest load",
    (blocks,),
    _four_over_one,
)
USE_OF_FOUR = CaseMeasure(
    "CPU use of the web tiers of four systems together at the highest load, in PUs",
    (blocks,),
    _use_of_four,
)
