"""Were CPUs full again and again in a run in which nothing is abnormal? Waits are usual there.

Near capacity chance fills the CPUs for moments (:mod:`tierlab.diagnosis.full_by_chance`), and no
server's requests wait for longer than they usually do. That is no finding, but who reads "nothing
abnormal" of such a run must be told how little is left.
"""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.resources.metrics import SATURATED
from tierlab.analysis.span import Span
from tierlab.diagnosis.cores import Cores
from tierlab.diagnosis.signals import Signals

TOLD_FROM = 0.02
"""Of the time. CPUs that are 40 % busy by requests at random are all full less often."""

LEAST_BUSY = 0.6
"""CPUs that are less busy on average have time left, whatever fills them now and then."""


@dataclass(frozen=True)
class NearCapacity:
    """How busy the CPUs were on which these ``servers`` may run, and for which share of the time
    all of them were full; ``servers`` is empty where these are all.
    """

    servers: list[str]
    busy: float
    full: float


def near_capacity(signals: Signals, cores: Cores, span: Span) -> NearCapacity | None:
    """Return what is to be told of the CPUs that were full most often; None where none were."""
    found = [
        each
        for names, parts in cores.sets(span).items()
        for part in parts
        if (each := _of(signals, cores, names, part)) is not None
    ]
    near = [each for each in found if each.full >= TOLD_FROM and each.busy >= LEAST_BUSY]
    return max(near, key=lambda each: each.full, default=None)


def _of(signals: Signals, cores: Cores, names: tuple[str, ...], part: Span) -> NearCapacity | None:
    busy = signals.together("cpu", "busy", names)
    if busy is None:
        return None
    inside = (busy.start_ns >= part.start_ns) & (busy.end_ns <= part.end_ns)
    length = (busy.end_ns - busy.start_ns)[inside]
    if not length.size:
        return None
    shares = busy.value[inside] / len(names)
    servers = [*cores.manifest.servers]
    there = [each for each in servers if cores.of(each, part.start_ns) == names]
    return NearCapacity(
        servers=[] if there == servers else there,
        busy=float(np.average(shares, weights=length)),
        full=float(np.average(shares >= SATURATED, weights=length)),
    )
