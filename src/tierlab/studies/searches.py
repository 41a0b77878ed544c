"""What becomes of one page's requests with more users, with more PUs, and beside other systems?

R. NasiriGerdeh et al., "Performance Investigation of Multi-tier Web Applications in Xen
Virtualized Environment" (2017), figures 5, 8, 12, 13, 15, 19, 20 and 22, which show of Olio's
requests only the search by a tag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tierlab.analysis.comparing.blocks import blocks
from tierlab.studies.cases import Cases, Trial
from tierlab.studies.measured import CaseMeasure, Measured, missing

SEARCH = "TagSearch"
USERS, PUS, SYSTEMS = "load.users", "system.app.mapping.pus", "system.site.count"

Figure = Callable[[Trial], float | None]


def _searches(trial: Trial) -> float | None:
    """Searches a second."""
    return trial.page(SEARCH)[0] / trial.seconds or None


def _response(trial: Trial) -> float | None:
    """Mean response time of a search, in milliseconds."""
    done, time_s = trial.page(SEARCH)
    return 1e3 * time_s / done if done else None


def _use(trial: Trial) -> float | None:
    """CPU use of all servers, in PUs."""
    return trial.all_use


def _by(
    cases: Cases, figure: Figure, count: Callable[[Mapping[str, Any]], int]
) -> dict[int, float]:
    """The figure by what is counted of a case's levels, for the cases in which it was measured."""
    found = {}
    for case in cases.cases:
        value = case.mean([figure(trial) for trial in case.trials])
        if value is not None:
            found[count(case.levels)] = value
    return found


def _over(found: dict[int, float], of: str, unit: str = "") -> Measured:
    """The figure at the highest level over that at the lowest."""
    if len(found) < 2:
        return missing(f"there are not trials at two numbers of {of} in which it was measured")
    least, most = min(found), max(found)
    ratio = found[most] / found[least]
    ends = f"{found[most]:.3g}{unit} ({most} {of}) and {found[least]:.3g}{unit} ({least})"
    return Measured(value=ratio, words=f"{ratio:.2f}: {ends}")


def _linear(cases: Cases, figure: Figure, unit: str) -> Measured:
    found = {users: value / users for users, value in _by(cases, figure, _users).items()}
    return _over({users: 1e3 * value for users, value in found.items()}, "users", unit)


def _users(levels: Mapping[str, Any]) -> int:
    return int(levels[USERS])


def _pus(levels: Mapping[str, Any]) -> int:
    return len(levels[PUS])


def _systems(levels: Mapping[str, Any]) -> int:
    return int(levels[SYSTEMS])


def _use_of_each(cases: Cases) -> Measured:
    found = _by(cases, _use, _pus)
    return _over({count: use / count for count, use in found.items()}, "PUs", " of each")


def _searches_of_each(cases: Cases) -> Measured:
    found = _by(cases, _searches, _systems)
    each = {count: value / count for count, value in found.items()}
    return _over(each, "systems", "/s of each")


SEARCHES_BY_USERS = CaseMeasure(
    "searches a second for each user, with the most users over those with the fewest",
    (blocks,),
    lambda cases: _linear(cases, _searches, "/s of 1,000"),
)
USE_BY_USERS = CaseMeasure(
    "CPU use of all servers for each user, with the most users over that with the fewest",
    (blocks,),
    lambda cases: _linear(cases, _use, " PUs of 1,000"),
)
SEARCHES_BY_PUS = CaseMeasure(
    "searches a second on the most PUs over those on the fewest",
    (blocks,),
    lambda cases: _over(_by(cases, _searches, _pus), "PUs", "/s"),
)
RESPONSE_BY_PUS = CaseMeasure(
    "mean response time of a search on the most PUs over that on the fewest",
    (blocks,),
    lambda cases: _over(_by(cases, _response, _pus), "PUs", " ms"),
)
USE_BY_PUS = CaseMeasure(
    "CPU use of all servers for each of their PUs, with the most PUs over that with the fewest",
    (blocks,),
    _use_of_each,
)
SEARCHES_BY_SYSTEMS = CaseMeasure(
    "searches a second of each system, where there are the most over one alone",
    (blocks,),
    _searches_of_each,
)
RESPONSE_BY_SYSTEMS = CaseMeasure(
    "mean response time of a search where there are the most systems over that of one alone",
    (blocks,),
    lambda cases: _over(_by(cases, _response, _systems), "systems", " ms"),
)
USE_BY_SYSTEMS = CaseMeasure(
    "CPU use of all servers where there are the most systems over that of one alone",
    (blocks,),
    lambda cases: _over(_by(cases, _use, _systems), "systems", " PUs"),
)
