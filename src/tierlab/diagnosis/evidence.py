"""Evidence that several causes need, each asked of one context."""

import numpy as np

from tierlab.analysis.query import Floats
from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.signals import Signal
from tierlab.diagnosis.stall_context import StallContext, asked_once
from tierlab.diagnosis.thresholds import support

CORES = "cpu_ns * 1.0 / dt_ns"
FAULTS = "major_faults * 1e9 / dt_ns"
REFAULTS = "refaults * 1e9 / dt_ns"
USED = "memory * 1.0 / nullif(memory_limit, 0)"
SOME = '"some"'
STOPPED = "threads_stopped + coalesce(frozen, 0)"
LISTED_NS = 1_000_000_000
"""Queueing disciplines that the kernel gives by itself are looked at so often while they are empty,
and their interface's rows between are null."""


def pressure(context: StallContext, resource: str) -> float | None:
    """Return the share of the window in which a task of the server waited for the resource."""
    return context.mean("pressure", SOME, f"resource = '{resource}'")


def pressure_at_most(context: StallContext, resource: str) -> float | None:
    """Return the largest such share that the samples allow: what rules a cause out must not be
    overlooked because a tick is longer than the window.
    """
    signal = context.signal("pressure", SOME, f"resource = '{resource}'")
    return None if signal is None else signal.at_most(context.window)


def pressure_beyond(context: StallContext, resource: str) -> float | None:
    """Return how much more than usual a task waited for the resource, as a share of the time in
    which usually none does.
    """
    signal = context.signal("pressure", SOME, f"resource = '{resource}'")
    return None if signal is None else signal.share_beyond(context.window)


def starved(context: StallContext) -> float | None:
    """Return how far the server's threads were ready to run and got no CPU, beyond the usual."""
    return support("cpu wait", pressure_beyond(context, "cpu"))


def wanting(context: StallContext) -> float | None:
    """Return how far they were so of all time: under demand beyond capacity nothing is usual."""
    return support("cpu want", pressure(context, "cpu"))


def idle(context: StallContext) -> float | None:
    """Return how far the server used no CPU at all: 1 for none."""
    return against(support("idle", used_inside(context.signal("domain", CORES), context.window)))


def used_inside(signal: Signal | None, window: Window) -> float | None:
    """Return what was used within the window: the median of whole ticks where it is long enough, as
    the last one may reach into what was worked off afterwards.

    In a shorter one what the parts outside of it would usually have used is taken off.
    """
    if signal is None:
        return None
    inside = signal.inside(window)
    if inside.size:
        return float(np.median(inside))
    here = signal.within(window)
    if not here.size:
        return None
    mean = signal.mean(window)
    return None if mean is None else max(0.0, min(mean, float(here.min())))


def stopped(context: StallContext) -> float | None:
    """Return 1 where threads of the server were seen stopped, 0 where all were seen otherwise.

    The sampler looks only where a domain uses next to no CPU; None where it did not look.
    """
    halted = context.signal("domain", STOPPED)
    if halted is None:
        return None
    seen = halted.within(context.window)
    return float(seen.max() > 0) if seen.size else None


@asked_once
def short_of_memory(context: StallContext) -> float | None:
    """Return how far the server's domain was short of memory: it read pages back from disk, or was
    at its limit while tasks waited for room.

    One major fault reads many pages around the one that was asked for: the pages that came back
    tell of a shortage whose faults are few, and fewer still tell of one where tasks wait for memory
    for much of the time. An undisturbed server reads none back and waits for none.
    """
    refaults = context.beyond("domain", REFAULTS)
    some = support("refaults with memory wait", refaults)
    waited = support("memory wait with refaults", pressure_beyond(context, "memory"))
    signs = (
        support("faults", context.beyond("domain", FAULTS)),
        support("refaults", refaults),
        None if some is None or waited is None else min(some, waited),
        at_limit(context),
    )
    return max((each for each in signs if each is not None), default=None)


def at_limit(context: StallContext) -> float | None:
    """Return how far tasks waited for memory while their domain was at its limit, unless it usually
    is: the cache of files that were read once fills many.
    """
    used = context.signal("domain", USED)
    seen = None if used is None else used.within(context.window)
    waited = support("memory wait", pressure_beyond(context, "memory"))
    if used is None or seen is None or not seen.size or waited is None:
        return None
    if support("memory limit", used.usual):
        return 0.0
    return min(waited, support("memory limit", float(seen.max())) or 0.0)


SEVERAL = 6
"""Of fewer ticks one may be all that a short hold is seen in."""

HELD_NS = 300_000_000
"""So long before requests wait what a wire lets go may have been there: a surge comes up to 200 ms
before."""


LAST_NS = 100_000_000
"""What was held to a window's end was in so much of it: two ticks."""


def queued(context: StallContext, before_ns: int = 0) -> float | None:
    """Return the most bytes that any interface held back in the window, or in a time before it,
    beyond its usual: in several ticks what two that follow one another have, as a packet that is
    just being sent is seen in any one.

    An interface without a queueing discipline (null) holds nothing back. One that was looked at
    shortly before or after the window, but not in it, may have: then None, unless another did.
    """
    return _queued(context, context.around(before_ns))


def queued_to_its_end(context: StallContext) -> float | None:
    """Return the same of the later half of the window: who waits for packets goes on when these are
    let go, and who waits for longer waits for something else.
    """
    window = context.window
    middle_ns = (window.start_ns + window.end_ns) // 2
    start_ns = max(window.start_ns, min(middle_ns, window.end_ns - LAST_NS))
    return _queued(context, Window(start_ns=start_ns, end_ns=window.end_ns))


def _queued(context: StallContext, window: Window) -> float | None:
    if not context.signals.sampled("net", "queued_bytes"):
        return None
    near = Window(start_ns=window.start_ns - LISTED_NS, end_ns=window.end_ns + LISTED_NS)
    most, overlooked = 0.0, False
    for interface in context.signals.subjects("net", "queued_bytes"):
        signal = context.signals.get("net", "queued_bytes", interface)
        if signal is None:
            continue
        held = _held(signal.within(window)) - signal.usual
        most = max(most, held)
        overlooked |= not signal.within(window).size and signal.within(near).size > 0
    return None if overlooked and most == 0.0 else most


def _held(seen: Floats) -> float:
    if seen.size >= SEVERAL:
        seen = np.minimum(seen[1:], seen[:-1])
    return float(seen.max(initial=0.0))


def not_held_back(case: Case, context: StallContext) -> None:
    """Rule a cause out where packets had been held back on their way: let go, they come at once."""
    held = against(support("queued bytes", queued(context, HELD_NS)))
    case.beside("net", held, "packets were not held back and then let go at once")


def unaccepted(context: StallContext) -> float | None:
    """Return the most connections that waited to be accepted at once, beyond the usual."""
    signal = context.signal("listen", "accept_queue")
    if signal is None:
        return None
    seen = signal.levels(context.window)
    return max(0.0, float(seen.max()) - signal.usual) if seen.size else None


def no_pause(case: Case, context: StallContext) -> None:
    """Rule a cause out where the server's runtime held its threads itself; nothing is said of a
    server that tells no pauses.
    """
    if context.tells_pauses:
        held = support("paused otherwise", paused(context))
        case.beside("events", against(held), "no pause of its own runtime")


def no_lock(case: Case, context: StallContext) -> None:
    """Rule a cause out where statements waited for a lock; nothing is said of a server that tells
    no locks.
    """
    if context.tells_locks:
        waiting = support("lock waiters otherwise", waiting_for_locks(context))
        case.beside("database", against(waiting), "no statement waited for a lock")


def paused(context: StallContext) -> float | None:
    """Return the share of the window in which the server's own runtime held all its threads."""
    if context.pauses is None:
        return None
    window = context.window
    covered = sum(
        max(
            0,
            min(each.window.end_ns, window.end_ns) - max(each.window.start_ns, window.start_ns),
        )
        for each in context.pauses
    )
    return min(1.0, covered / max(1, window.end_ns - window.start_ns))


def waiting_for_locks(context: StallContext) -> float | None:
    """Return the most statements that waited for a lock at once, at any poll in the window, beyond
    the usual.

    Between two polls only the waits for rows are counted.
    """
    signal = context.signal("database", LOCK_WAITS)
    if signal is None:
        return None
    polled = signal.read_in(context.window)
    if polled.size:
        return max(0.0, float(polled.max()) - signal.usual)
    begun = context.signal("database", "row_lock_waits")
    counted = None if begun is None else begun.within(context.window)
    return float(counted.max()) if counted is not None and counted.max(initial=0) > 0 else None


LOCK_WAITS = "row_lock_waiting + table_lock_waiting"


CHECKPOINTS = "checkpoints_running"
POLL_NS = 100_000_000
"""From one poll to the next: a checkpoint that has ended meanwhile was seen at the one before."""


MISSES = "data_reads * 1e9 / dt_ns"
LATE_NS = 1_200_000_000
"""A session of PostgreSQL tells a second later which pages it missed, and is polled then."""


def pages_missed(context: StallContext) -> float | None:
    """Return how many pages more than usual were not in a database's buffer pool."""
    signal, told = context.signal("database", MISSES), context.around(0, LATE_NS)
    beyond = None if signal is None else signal.beyond(told)
    return None if beyond is None else beyond * (told.end_ns - told.start_ns) / 1e9


IN_FLIGHT = "pending_reads"
FROM_DISK = "bytes_read * 1e9 / dt_ns"


def read_from_disk(context: StallContext) -> float | None:
    """Return how far a database's pages came from the disk, beyond the usual: one that its pool
    misses may be in the kernel's cache. A fast disk gives many bytes, and on a slow one many wait
    for a few.
    """
    signs = (
        support("read from disk", context.beyond("domain", FROM_DISK)),
        support("reads in flight", context.beyond("database", IN_FLIGHT)),
    )
    return max((each for each in signs if each is not None), default=None)


def warming(context: StallContext) -> float | None:
    """Return how far a database read pages from its disk that its pool usually holds; None where
    one of the two was not told.
    """
    missed, read = support("pages missed", pages_missed(context)), read_from_disk(context)
    return None if missed is None or read is None else min(missed, read)


def no_cold_pages(case: Case, context: StallContext) -> None:
    """Rule a cause out where a database read pages that its pool usually holds: it waits for its
    disk then, and holds its locks meanwhile. Nothing is said of a server that does not tell.
    """
    read = warming(context)
    if read is not None:
        case.beside("database", against(read), "it read no pages that its pool usually holds")


def checkpoint_told(context: StallContext) -> float | None:
    """Return 1 where a database said that a checkpoint was under way, and does not usually; None
    where it says nothing of checkpoints.
    """
    running = context.signal("database", CHECKPOINTS)
    if running is None:
        return None
    told = running.within(context.around(POLL_NS))
    return float(told.max() > running.usual) if told.size else None
