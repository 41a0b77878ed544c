"""What do containers cost, and does it grow with the load?

P. Padala et al., "Performance Evaluation of Virtualization Technologies for Server Consolidation"
(HP Labs, 2007), section 5.1, figures 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tierlab.analysis.comparing.blocks import blocks
from tierlab.studies.cases import Case, Cases, Trial
from tierlab.studies.environments import BASE, CONTAINERS, FACTOR
from tierlab.studies.measured import CaseMeasure, Measured, missing

USERS = "load.users"

Figure = Callable[[Trial], float | None]


def _response(trial: Trial) -> float | None:
    return trial.response_s


def _throughput(trial: Trial) -> float | None:
    return trial.throughput


def _cpu(trial: Trial) -> float | None:
    return trial.cpu_s(trial.first_tier)


def _first_use(trial: Trial) -> float | None:
    return trial.first_use


def _last_use(trial: Trial) -> float | None:
    return trial.last_use


def _of(cases: Cases, figure: Figure) -> dict[str, dict[int, float]]:
    """The figure by number of users, for the base system and the containers that have any."""
    found: dict[str, dict[int, float]] = {}
    for case in cases.cases:
        value = _mean(case, figure)
        if case.levels.get(FACTOR) in (BASE, *CONTAINERS) and value is not None:
            found.setdefault(str(case.levels[FACTOR]), {})[int(case.levels[USERS])] = value
    return found


def _mean(case: Case, figure: Figure) -> float | None:
    return case.mean([figure(trial) for trial in case.trials])


def _growth(cases: Cases, figure: Figure, *, to_load: bool) -> dict[str, float]:
    """The figure at the highest load over that at the least, and where asked that over the ratio
    of these loads, for each environment with several.
    """
    found = {}
    for name, by_load in _of(cases, figure).items():
        least, most = min(by_load), max(by_load)
        if least < most and by_load[least] > 0:
            grown = by_load[most] / by_load[least]
            found[name] = grown * least / most if to_load else grown
    return found


def _linear(cases: Cases, figure: Figure) -> Measured:
    found = _growth(cases, figure, to_load=True)
    if not found:
        return missing("no environment has it at two loads")
    return Measured(value=max(found.values(), key=lambda each: abs(each - 1)), words=_each(found))


def _grown(cases: Cases, figure: Figure) -> Measured:
    found = _growth(cases, figure, to_load=False)
    if not found:
        return missing("no environment has it at two loads")
    return Measured(value=max(found.values()), words=_each(found))


def _over_base(cases: Cases, figure: Figure) -> Measured:
    by_environment = _of(cases, figure)
    base = by_environment.pop(BASE, {})
    found = {
        f"{name}, {users} users": value / base[users]
        for name, by_load in by_environment.items()
        for users, value in by_load.items()
        if base.get(users, 0) > 0
    }
    if not found:
        return missing(f"there is not {BASE} and a container at one load")
    return Measured(value=max(found.values()), words=_each(found))


def _highest(cases: Cases, figure: Figure) -> Measured:
    found = {
        f"{name}, {users} users": value
        for name, by_load in _of(cases, figure).items()
        for users, value in by_load.items()
    }
    if not found:
        return missing("the database's CPU time was not measured")
    return Measured(value=max(found.values()), words=_each(found))


def _each(found: Mapping[str, float]) -> str:
    return "; ".join(f"{value:.2f} ({name})" for name, value in found.items())


THROUGHPUT_BY_LOAD = CaseMeasure(
    "throughput at the highest load over that at the least, over the ratio of these loads; of the"
    " environment where that is farthest from 1",
    (blocks,),
    lambda cases: _linear(cases, _throughput),
)
CONTAINER_RESPONSE_BY_LOAD = CaseMeasure(
    "highest mean response time in containers over that of bare processes at the same load",
    (blocks,),
    lambda cases: _over_base(cases, _response),
)
RESPONSE_GROWTH = CaseMeasure(
    "mean response time at the highest load over that at the least, the highest of bare processes"
    " and containers",
    (blocks,),
    lambda cases: _grown(cases, _response),
)
CONTAINER_CPU_BY_LOAD = CaseMeasure(
    "highest CPU time of the web tier for a request in containers over that of bare processes at"
    " the same load",
    (blocks,),
    lambda cases: _over_base(cases, _cpu),
)
CPU_BY_LOAD = CaseMeasure(
    "CPU use of the web tier at the highest load over that at the least, over the ratio of these"
    " loads; of the environment where that is farthest from 1",
    (blocks,),
    lambda cases: _linear(cases, _first_use),
)
DATABASE_CPU = CaseMeasure(
    "highest CPU use of the database, in PUs",
    (blocks,),
    lambda cases: _highest(cases, _last_use),
)
