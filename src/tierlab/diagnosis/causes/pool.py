"""Pool: a soft resource of the server was used up, while nothing below it was slow."""

import numpy as np

from tierlab.diagnosis.case import UNSEEN, Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.cpu_share import exceeded, no_limit
from tierlab.diagnosis.evidence import (
    CORES,
    no_pause,
    not_held_back,
    pressure,
    queued,
    stopped,
    unaccepted,
    wanting,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.held_up import POOL, held_up, made_smaller
from tierlab.diagnosis.lost_segments import no_losses
from tierlab.diagnosis.replaced import no_restart
from tierlab.diagnosis.slow_senders import WORKERS, no_slow_senders
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.surge import surge
from tierlab.diagnosis.thresholds import support

NAME = "pool"
GAUGES = (POOL, WORKERS)
UNWANTED = 0.8
"""How much less a gauge at its limit says where nobody waits for the resource."""

LASTS_S = 1.0
"""In windows so long it counts how many wait as a rule, not how many did at one moment."""


def judge(context: StallContext) -> Suspect:
    """Weigh gauges at their limits, else connections that wait to be accepted.

    Those also wait where the server itself gets no CPU to accept them.
    """
    case = Case(NAME, context.subject)
    full = exhausted(context)
    if full is not None:
        case.direct("soft", full[1], f"{full[0]} in use up to their limit, requests waiting")
        case.beside("cpu", against(exceeded(context)), "its CPUs had room for more")
    else:
        waiting = kept_waiting(context)
        case.direct("listen", support("unaccepted", waiting), "connections waited to be accepted")
        case.beside("pressure", against(wanting(context)), "it did not wait for a CPU")
        busy = against(support("at work", at_work(context)))
        case.beside("domain", busy, "it was not at work all of the time")
    case.beside("domain", against(stopped(context)), "its threads were not stopped")
    if (held := held_up(context)) is not None:
        case.beside("visits", against(held), "its calls took no longer than usual")
    not_held_back(case, context)
    no_losses(case, context)
    no_pause(case, context)
    no_limit(case, context)
    no_restart(case, context)
    no_slow_senders(case, context)
    case.beside("visits", against(support("surge", surge(context))), "no surge of users")
    return case.suspect()


def kept_waiting(context: StallContext) -> float | None:
    """Return how many connections waited to be accepted: the most at once, and in what lasts the
    median, as a few come at once in any second.
    """
    signal = context.signal("listen", "accept_queue")
    seen = None if signal is None else signal.within(context.window)
    if signal is None or seen is None or not seen.size or context.window.duration_s < LASTS_S:
        return unaccepted(context)
    return max(0.0, float(np.median(seen)) - signal.usual)


def at_work(context: StallContext) -> float | None:
    """Return for how much of the window one thread would have worked, or been ready to: a server of
    one thread that is never idle accepts nothing meanwhile, and has no workers that could be held.
    Of one with many workers half of those that can compute at once are taken for that thread, which
    is one on the two CPUs that this was found on: a few that compute hold up no others.
    """
    used, waited = context.mean("domain", CORES), pressure(context, "cpu")
    workers = context.limits.get(WORKERS, 1) if context.worker_threads else 1
    at_once = min(workers, len(context.cores))
    return None if used is None or waited is None else (used + waited) / max(1.0, at_once / 2)


def exhausted(context: StallContext) -> tuple[str, float] | None:
    """Return the soft resource nearest its limit, and how far requests waited for it.

    A gauge is polled, so the tick that the window ends in, read a little later, is one of it.
    """
    found = []
    for name in GAUGES:
        where = f"resource = '{name}'"
        used = context.signal("soft", 'in_use * 1.0 / nullif("limit", 0)', where)
        waiting = context.signal("soft", "waiting", where)
        shares = None if used is None else used.within(context.window)
        if shares is None or not shares.size:
            continue
        used_up = support("gauge", float(shares.max())) or 0.0
        waits = waiting.within(context.window) if waiting is not None else shares[:0]
        waited = support("gauge's waiters", float(waits.max())) if waits.size else None
        used_up *= UNSEEN if waited is None else 1.0 - UNWANTED * (1.0 - waited)
        found.append((name, used_up))
    return max(found, key=lambda each: each[1]) if found else None


def stands_alone(context: StallContext) -> bool:
    """Say whether a stall below cannot have used the resource up: that fills a pool, too, but makes
    none smaller, and each of the pool's connections then waits for a call.
    """
    full = exhausted(context)
    return full is not None and (made_smaller(context, full[0]) or _idle_in_use(context, full[0]))


def _sent_late(context: StallContext) -> bool:
    """Say whether packets waited where the wait ended with a call's arrival: the connections in use
    have none under way below then, either, and it is the network that holds them.
    """
    late = support("arrived late", max((context.toward or {}).values(), default=0.0))
    return bool(late) and (queued(context) or 0.0) > 0.0


def _idle_in_use(context: StallContext, name: str) -> bool:
    used = context.signal("soft", "in_use", f"resource = '{name}'")
    if name != POOL or used is None or context.calls is None or _sent_late(context):
        return False
    most = float(used.within(context.window).max(initial=0))
    return bool(most) and not support("working", context.calls.in_progress(context.window) / most)


def happened(context: StallContext) -> str:
    """Say what happened."""
    full = exhausted(context)
    what = {POOL: "database connections", WORKERS: "threads"}.get(full[0] if full else "", "")
    return f"had all its {what or 'workers'} in use, and requests waited for one"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    full = exhausted(context)
    unknown = "workers" if context.worker_threads is False else WORKERS
    name = full[0] if full else unknown
    now = context.limits.get(name)
    size = f" (now {now})" if now is not None else ""
    return [
        Remedy(
            change=f"find what holds {context.subject}'s {name}{size} without working: slow or "
            "unfinished requests, connections that are not given back; bound them by a timeout",
            expected="requests get one at once",
        ),
        Remedy(
            change=f"{'a larger' if name == POOL else 'more'} {name} at {context.subject}, if what "
            "is below has room for it",
            expected="fewer requests wait, more are under way below",
        ),
    ]


CAUSE = Cause(
    NAME,
    "an exhausted pool",
    judge,
    happened,
    remedies,
    Leading("soft", "waiting"),
    stands_alone=stands_alone,
)
