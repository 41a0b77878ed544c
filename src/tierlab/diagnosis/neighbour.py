"""Did CPU time go where no request of the server was served?

A server that works off what piled up elsewhere waits for CPUs too, and uses many, but it answers
visits with them. So what is used is compared with what as many visits usually take.
"""

import math

from tierlab.diagnosis.case import ramp
from tierlab.diagnosis.evidence import CORES, starved
from tierlab.diagnosis.stall_context import StallContext

LEAST_CORES, CLEAR_CORES = 0.2, 0.6
"""A fifth of a core is what the laboratory itself and a garbage collector may add to the usual."""

SCATTER = 2.0
"""A server's pages differ: in a short window its visits may take twice the CPU that is usual."""


def foreign(context: StallContext) -> float | None:
    """Return the cores used in the window that served no visit of the server: in its domain or
    outside of all domains, whichever are more; None where either was not measured.
    """
    inside, beyond = within(context), outside(context)
    return None if inside is None or beyond is None else max(inside, beyond)


def within(context: StallContext) -> float | None:
    """Return the cores used in the server's domain beyond what its visits take."""
    own = context.signal("domain", CORES)
    here = None if own is None else own.mean(context.window)
    if own is None or here is None:
        return None
    return here - SCATTER * own.usual * _more(context)


def held_back(context: StallContext) -> float | None:
    """Return how far a neighbour kept the server from its CPUs: it got none, and others had them.

    Where it did not wait for a CPU nobody kept it from one, whatever they used.
    """
    waited, others = starved(context), ramp(foreign(context), LEAST_CORES, CLEAR_CORES)
    if waited is None or waited == 0.0:
        return waited
    return None if others is None else waited * others


def outside(context: StallContext) -> float | None:
    """Return the machine's busy cores less all domains', beyond the usual: what the laboratory
    itself uses is in that, and goes up with the visits.
    """
    total = usual = 0.0
    signs = [(1.0, context.signals.get("cpu", "busy", core)) for core in _cores(context)]
    signs += [(-1.0, context.signals.get("domain", CORES, name)) for name in context.servers]
    for sign, signal in signs:
        mean = None if signal is None else signal.mean(context.window)
        if signal is None or mean is None:
            return None
        total += sign * mean
        usual += sign * signal.usual
    return total - max(0.0, usual) * _more(context)


def _cores(context: StallContext) -> list[str]:
    return context.signals.subjects("cpu", "busy")


def _more(context: StallContext) -> float:
    """Return how many times the usual visits the server had in the window, 1 at least: as many as
    there were beyond doubt, as independent visits scatter by the square root of their number.
    """
    if context.visiting is None or not context.usual_visits:
        return 1.0
    seen = context.visiting(context.window)
    beyond_doubt = seen - 2 * math.sqrt(seen)
    return max(1.0, beyond_doubt / (context.usual_visits * context.window.duration_s))
