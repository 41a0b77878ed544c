"""How much of an overload is what a neighbour or a surge within it left?

Near capacity the CPUs are full for seconds now and then, and requests a little late. Who fills them
wholly then makes the same stretch of full CPUs longer, and many times as many wait.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tierlab.analysis.observed import Observed
from tierlab.analysis.query import row
from tierlab.diagnosis.attribution import Attribution
from tierlab.diagnosis.backlog import catching_up
from tierlab.diagnosis.causes import burst, cpu, overload
from tierlab.diagnosis.cores import Cores
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.saturated import LEAST_NS
from tierlab.diagnosis.systems import requests_of

Waiting = Callable[[str, Window], float]
"""How many users wait for a server's systems, on average over a window."""

FILLING = {burst.NAME, cpu.NAME}
SURE = 0.9
"""Within an overload a moment that looks like a neighbour's is often none."""

MORE = 3.0
"""Times as many wait from then on as before."""


def up_to_neighbours(
    lasting: Sequence[Occurrence],
    stalls: Sequence[Occurrence],
    attribution: Attribution,
    waiting: Waiting,
) -> list[Occurrence]:
    """Return the stretches, each overload up to the first neighbour or surge that most of those who
    waited in it came after, if the rest is no longer than what that left takes. Less than two
    seconds, or what is no overload by itself, is none.
    """
    filling = [each for each in stalls if each.cause in FILLING and each.verdict.strength >= SURE]
    found = []
    for each in lasting:
        at_ns = _overtaken_at(each, filling, attribution.run, waiting)
        if at_ns is None:
            found.append(each)
        elif at_ns - each.stall.window.start_ns >= LEAST_NS:
            found.append(_up_to(each, at_ns, attribution, waiting))
    return [each for each in found if each.verdict.winner is not None]


def _overtaken_at(
    each: Occurrence,
    filling: Sequence[Occurrence],
    run: RunContext,
    waiting: Waiting,
) -> int | None:
    whole, server = each.stall.window, each.subject
    if each.cause != overload.NAME:
        return None
    for other in filling:
        window = other.stall.window
        if not whole.start_ns < window.start_ns < whole.end_ns:
            continue
        before = Window(start_ns=whole.start_ns, end_ns=window.start_ns)
        after = Window(start_ns=window.start_ns, end_ns=whole.end_ns)
        left = after.duration_s <= catching_up(each, run) * window.duration_s
        if left and waiting(server, after) >= MORE * waiting(server, before):
            return window.start_ns
    return None


def _up_to(each: Occurrence, at_ns: int, attribution: Attribution, waiting: Waiting) -> Occurrence:
    window = Window(start_ns=each.stall.window.start_ns, end_ns=at_ns)
    total_ns = int(waiting(each.subject, window) * (window.end_ns - window.start_ns))
    stall = replace(each.stall, window=window, core=window, total_ns=total_ns)
    return attribution.attribute(replace(stall, server=each.subject))


def users_waiting(observed: Observed, cores: Cores) -> Waiting:
    """Return what counts the users' requests in progress, of the systems whose servers may run on
    just the CPUs that a server may run on.
    """

    def waiting(server: str, window: Window) -> float:
        names = cores.of(server, window.start_ns)
        asked = requests_of(observed.run.manifest, cores.systems(names, window.start_ns))
        found = row(
            observed.db,
            f"""SELECT coalesce(sum(least(end_ns, $end) - greatest(intended_ns, $start)), 0)::DOUBLE
                AS total_ns FROM {asked} WHERE end_ns > $start AND intended_ns < $end""",
            {"start": window.start_ns, "end": window.end_ns},
        )
        return float(found["total_ns"]) / (window.end_ns - window.start_ns)

    return waiting
