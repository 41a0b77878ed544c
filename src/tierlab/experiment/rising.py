"""A trial whose load rises step by step through given loads: one of a search for the knee."""

from __future__ import annotations

from collections.abc import Sequence

from tierlab.errors import UserError
from tierlab.experiment.experiment import Experiment
from tierlab.experiment.objective import Objective
from tierlab.experiment.plan import TrialPlan
from tierlab.experiment.shape import Shape
from tierlab.values.points import Curve
from tierlab.values.quantities import SECOND

SHORTEST_STEP_NS = SECOND
STEPS_A_RUNTIME = 5
"""A step is a fifth of the runtime that a trial of one load would have."""


def check_searchable(asked: Experiment) -> None:
    """Raise :class:`UserError` where the experiment is none whose knee can be searched."""
    for plan in asked.trials():
        wrong = None
        if plan.several:
            wrong = "[[system]]: the knee of several systems at once is not one load; search each"
        elif plan.load.speed is not None:
            wrong = "load.speed: a log is its own load; give users or rate to search"
        elif not plan.load.shape.is_constant:
            wrong = "load.shape: the search for the knee has a shape of its own; remove it"
        elif plan.disturb or plan.change:
            what = "disturb" if plan.disturb else "change"
            wrong = f"[[{what}]]: the knee is that of a system left alone; remove it"
        wrong = wrong or _fails_too_late(plan)
        if wrong is not None:
            raise UserError(f"{asked.source}: {wrong}.")


def _fails_too_late(plan: TrialPlan) -> str | None:
    """Who is not served fails once its timeout is over: steps later, where that is longer."""
    asked = plan.objective
    bounds = asked.model_dump(exclude_none=True, exclude={"throughput", "rules"})
    timeouts = plan.load.timeouts
    longest_ns = max(timeouts.connect_ns, timeouts.request_ns)
    step_ns = _step_ns(plan)
    if asked.rules or bounds.keys() != {"errors"} or longest_ns <= step_ns:
        return None
    return (
        "objective.errors: requests fail after load.timeouts alone,"
        f" {longest_ns / SECOND:g} s, and a step of the search is {step_ns / SECOND:g} s; add p99,"
        ' or shorten the timeouts, such as to { connect = "1s", request = "1s" }'
    )


def _step_ns(plan: TrialPlan) -> int:
    return max(SHORTEST_STEP_NS, plan.load.phases.runtime_ns // STEPS_A_RUNTIME)


def rising(plan: TrialPlan, loads: Sequence[float], trial: str) -> TrialPlan:
    """A trial like `plan`, through these loads (users or requests per second) one after the other.

    Loads are rounded to whole users, or to four digits. It has no objective: it is to be missed.
    """
    key = "rate" if plan.load.users is None else "users"
    # Few users have fewer different numbers than there are steps.
    asked = list(dict.fromkeys(_rounded(load, whole=key == "users") for load in loads))
    most = max(asked)
    step_ns = _step_ns(plan)
    points = tuple(
        ((step + edge) * step_ns, each / most) for step, each in enumerate(asked) for edge in (0, 1)
    )
    phases = plan.load.phases.model_copy(update={"runtime_ns": step_ns * len(asked)})
    shape = Shape.model_validate({"points": Curve().write(points)})
    load = plan.load.model_copy(update={key: most, "shape": shape, "phases": phases})
    return plan.model_copy(
        update={
            "trial": trial,
            "levels": plan.levels | {f"load.{key}": most},
            "load": load,
            "objective": Objective(),
        }
    )


def _rounded(load: float, *, whole: bool) -> float:
    return max(1, round(load)) if whole else float(f"{load:.4g}")
