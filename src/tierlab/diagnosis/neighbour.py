"""Whose was the CPU time that a server did not get?

A server that works off what piled up elsewhere waits for CPUs too, and uses many, but it answers
visits with them. So what is used is compared with what as many visits usually take. A neighbour is
whoever else used the CPUs that the server may run on: in its own domain, in that of another server,
or outside of all.
"""

import math

from tierlab.diagnosis.evidence import CORES, starved
from tierlab.diagnosis.stall_context import StallContext, asked_once
from tierlab.diagnosis.thresholds import support

SCATTER = 2.0
"""A server's pages differ: in a short window its visits may take twice the CPU that is usual."""


def foreign(context: StallContext) -> float | None:
    """Return the cores used in the window that served no visit: in the server's domain, in that of
    another on its CPUs, or outside of all domains, whichever are more; None where any of it was not
    measured.
    """
    found = [within(context), outside(context), *(within(each) for each in context.peers)]
    known = [each for each in found if each is not None]
    return max(known) if len(known) == len(found) else None


def taken(context: StallContext) -> float | None:
    """Return how far that was enough to keep servers from the CPUs. The level is of two of them: of
    more, as large a share counts.
    """
    found = foreign(context)
    pairs = max(1.0, len(context.cores) / 2)
    return None if found is None else support("foreign cores", found / pairs)


def host(context: StallContext) -> StallContext:
    """Return the server in whose domain most of that was used, or the server itself where it was
    outside of all domains.
    """
    here = max(context.peers, key=lambda each: within(each) or 0.0, default=context)
    there = within(here) or 0.0
    mine = max(within(context) or 0.0, outside(context) or 0.0)
    return here if there > mine else context


@asked_once
def within(context: StallContext) -> float | None:
    """Return the cores that others than the server used in its domain: what is beyond its visits'
    usual, and was not used by the server's own processes, as far as those were seen.
    """
    beyond = excess(context)
    others = strangers(context)
    return beyond if beyond is None or others is None else min(beyond, others)


def excess(context: StallContext) -> float | None:
    """Return the cores used in the server's domain beyond what its visits take."""
    own = context.signal("domain", CORES)
    here = None if own is None else own.mean(context.window)
    if own is None or here is None:
        return None
    return here - SCATTER * own.usual * _more(context)


def strangers(context: StallContext) -> float | None:
    """Return the most cores that processes other than the server's own can have used in its domain
    within the window; None where its processes were not looked at.

    They are looked at about once a second: all that the domain used beyond its own processes in the
    ticks that the window touches may have been used in the window.
    """
    domain = context.signal("domain", CORES)
    own = context.signals.own_processes(context.subject)
    if domain is None or own is None:
        return None
    ticks = own.covering(context.window)
    if ticks is None:
        return None
    used, mine = domain.mean(ticks), own.mean(ticks)
    if used is None or mine is None:
        return None
    return max(0.0, used - mine) * ticks.duration_s / context.window.duration_s


def held_back(context: StallContext) -> float | None:
    """Return how far a neighbour kept the server from its CPUs: it got none, and others had them.

    Where it did not wait for a CPU nobody kept it from one, whatever they used.
    """
    waited, others = starved(context), taken(context)
    if waited is None or waited == 0.0:
        return waited
    return None if others is None else waited * others


@asked_once
def outside(context: StallContext) -> float | None:
    """Return how many of the CPUs that the server may run on were busy beside all domains on them,
    beyond the usual: what the laboratory itself uses is in that, and goes up with the visits.
    """
    if not context.cores:
        return None
    total = usual = 0.0
    signs = [(1.0, context.signals.together("cpu", "busy", context.cores))]
    everyone = (context, *context.peers)
    signs += [(-context.shared(each), each.signal("domain", CORES)) for each in everyone]
    for sign, signal in signs:
        mean = None if signal is None else signal.mean(context.window)
        if signal is None or mean is None:
            return None
        total += sign * mean
        usual += sign * signal.usual
    return total - max(0.0, usual) * _more(context)


def _more(context: StallContext) -> float:
    """Return how many times the usual visits the server had in the window, 1 at least: as many as
    there were beyond doubt, as independent visits scatter by the square root of their number.
    """
    if context.visiting is None or not context.usual_visits:
        return 1.0
    seen = context.visiting(context.window)
    beyond_doubt = seen - 2 * math.sqrt(seen)
    return max(1.0, beyond_doubt / (context.usual_visits * context.window.duration_s))
