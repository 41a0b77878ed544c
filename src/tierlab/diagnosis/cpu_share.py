"""How much of its CPUs' time could a server get? Full CPUs, limits, weights, and a hypervisor."""

import numpy as np

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.evidence import CORES, wanting
from tierlab.diagnosis.neighbour import within
from tierlab.diagnosis.stall_context import StallContext, asked_once
from tierlab.diagnosis.thresholds import support

PERIOD_NS = 100_000_000
"""The period of a CPU limit unless set otherwise: what it held back is booked when one is over."""

USUAL_WEIGHT = 1024.0


@asked_once
def busy_share(context: StallContext) -> float | None:
    """Return the mean busy share of the CPUs that the server may run on; None where one of them was
    not measured.
    """
    signals = [context.signals.get("cpu", "busy", core) for core in context.cores]
    means = [None if each is None else each.mean(context.window) for each in signals]
    known = [each for each in means if each is not None]
    return float(np.mean(known)) if known and len(known) == len(means) else None


def served_share(context: StallContext) -> float | None:
    """Return the servers' share of what anybody used of those CPUs: what all used who may run there
    less what others used in their domains, over what was busy less interrupts and the laboratory.
    Where that used more than the servers it is one of those others.
    """
    busy, total = busy_share(context), 0.0
    for each in (context, *context.peers):
        used = each.mean("domain", CORES)
        if used is None:
            return None
        total += context.shared(each) * (used - max(0.0, within(each) or 0.0))
    if not busy:
        return None
    laboratory = min(context.laboratory * len(context.cores), total)
    work = (busy - interrupts(context)) * len(context.cores) - laboratory
    return min(1.0, total / work) if work > total else 1.0


def interrupts(context: StallContext) -> float:
    """Return the mean share of its CPUs' time that interrupts took, packets mostly, which no domain
    is charged for; 0 where that was not measured.
    """
    signals = [context.signals.get("cpu", "irq", core) for core in context.cores]
    means = [None if each is None else each.mean(context.window) for each in signals]
    return float(np.mean([each for each in means if each is not None] or [0.0]))


def full(context: StallContext) -> float | None:
    """Return how far all CPUs that the server may run on were busy."""
    return support("cpus busy", busy_share(context))


def thread_share(context: StallContext) -> float | None:
    """Return the share of time that the server's busiest thread ran; None where each request has a
    thread to itself, or that was not measured.
    """
    thread = context.signals.busiest_thread(context.subject)
    return None if thread is None else thread.mean(context.window)


def thread_full(context: StallContext) -> float:
    """Return how far its busiest thread was full, 0 where its CPUs were just as full."""
    thread = support("cpus busy", thread_share(context)) or 0.0
    return thread if thread > (full(context) or 0.0) else 0.0


def exceeded(context: StallContext) -> float | None:
    """Return how far demand was beyond them, whoever's: they were full, and the server wanted more.

    Where one of both was not so, the other need not be known.
    """
    found = (full(context), wanting(context))
    if 0.0 in found:
        return 0.0
    known = [each for each in found if each is not None]
    return min(known) if len(known) == len(found) else None


def no_limit(case: Case, context: StallContext) -> None:
    """Rule a cause out where the server was kept from its CPUs from outside: by a limit on its CPU
    time, or by a hypervisor.
    """
    held = support("throttled", throttled(context))
    case.beside("domain", against(held), "no limit on its CPU time held it back")
    taken = support("stolen", stolen(context))
    case.beside("cpu", against(taken), "no hypervisor took its CPUs")


def own_cpus(context: StallContext) -> list[str]:
    """Return the virtual CPUs of the server's own kernel; none where it has none, or where these
    were not sampled.
    """
    inside = f"{context.subject}/"
    seen = context.signals.subjects("inside_cpu", "steal")
    return [name for name in seen if name.startswith(inside)]


@asked_once
def stolen(context: StallContext) -> float | None:
    """Return the share of its CPUs' time that a hypervisor gave to others, beyond the usual: of its
    own kernel's CPUs where it has one, else of the host's.
    """
    own = own_cpus(context)
    table, cores = ("inside_cpu", own) if own else ("cpu", list(context.cores))
    signals = [context.signals.get(table, "steal", core) for core in cores]
    found = [None if each is None else each.beyond(context.window) for each in signals]
    known = [each for each in found if each is not None]
    return float(np.mean(known)) if known and len(known) == len(found) else None


@asked_once
def throttled(context: StallContext) -> float | None:
    """Return for what share of the window a CPU limit held the server back, beyond the usual.

    As :data:`tierlab.analysis.resources.metrics.HELD_BACK` has it, but of the whole window: what
    was held back in it may be told in a tick in which the server runs again.
    """
    signal = context.signal("domain", "throttled_ns * 1.0 / dt_ns")
    late = context.around(0, PERIOD_NS)
    beyond = None if signal is None else signal.beyond(late)
    if beyond is None:
        return None
    held_s, window_s = beyond * late.duration_s, context.window.duration_s
    used_s = (context.mean("domain", CORES) or 0.0) * window_s
    return held_s / max(held_s + used_s, window_s)


def outweighed(context: StallContext) -> float | None:
    """Return how many times its own CPU weight the median of the others' is that share its CPUs:
    other servers' and, for whatever else may run there, the usual one.
    """
    mine = weight(context)
    if mine is None:
        return None
    theirs = [found for each in context.peers if (found := weight(each)) is not None]
    return float(np.median([*theirs, USUAL_WEIGHT])) / max(1.0, mine)


def weight(context: StallContext) -> float | None:
    """Return the server's least CPU weight in the window; where it was not sampled, as it was read
    back when the server was placed.
    """
    signal = context.signal("domain", "weight")
    seen = None if signal is None else signal.within(context.window)
    return float(seen.min()) if seen is not None and seen.size else context.weight
