"""What piles up while a server stands still is worked off afterwards: that is no overload."""

from collections.abc import Sequence

import numpy as np

from tierlab.diagnosis.causes import burst, cpu, overload
from tierlab.diagnosis.incidents import ONSET_NS, aftermath
from tierlab.diagnosis.merge import UNKNOWN, Occurrence
from tierlab.diagnosis.run_context import RunContext

LONGEST = 4.0
"""Times the length of what held the requests: of CPUs that are four fifths busy in quiet time one
fifth is left to catch up with. Where less is left, too many users came."""

CROWDED = 2.0
"""Times longer that it takes in fact: many at once need more CPU time each."""

FOLLOWING = {burst.NAME, overload.NAME}
"""What is held back comes at once when it is let go, and keeps the CPUs full until it is served."""


def without_backlogs(
    found: Sequence[Occurrence], stalls: Sequence[Occurrence], run: RunContext
) -> list[Occurrence]:
    """Leave out each overload and surge that begins in one of the stalls, of another cause or of
    none that is known, or in its aftermath, and is over by when the CPUs' usual spare time has
    served what came meanwhile. A wait of no known cause that goes on for as long with full CPUs as
    without is theirs: it leaves none, unless they were full only when the first who waited went on.

    Of requests that arrive at rate a and could be served at rate s, those of a stall of length T
    would be served, beside those that go on arriving, after T a / (s - a). A surge's own stall ends
    with the last of those that came, so of an overload it leaves what its aftermath may have. A
    neighbour fills the CPUs at once, and requests are late a little later.
    """
    held = [each for each in stalls if each.cause not in FOLLOWING]
    surges = [each for each in stalls if each.cause == burst.NAME]
    return [each for each in found if not _is_backlog(each, held, surges, run)]


def _is_backlog(
    each: Occurrence, held: list[Occurrence], surges: list[Occurrence], run: RunContext
) -> bool:
    if each.cause not in FOLLOWING:
        return False
    if each.cause == overload.NAME and any(_within(surge, each) for surge in surges):
        return True
    return any(_left(stall, each, catching_up(each, run)) for stall in held)


def _left(stall: Occurrence, following: Occurrence, times: float) -> bool:
    held, busy = stall.stall.window, following.stall.window
    first_ns = held.start_ns
    if stall.cause == UNKNOWN:
        first_ns = (held.start_ns + held.end_ns) // 2
        if busy.start_ns <= first_ns:
            held = stall.stall.core
            first_ns = held.end_ns
    elif stall.cause == cpu.NAME:
        first_ns -= ONSET_NS
    began = first_ns < busy.start_ns <= aftermath(stall.stall).end_ns
    return began and busy.duration_s <= times * held.duration_s


def _within(surge: Occurrence, following: Occurrence) -> bool:
    came, busy = surge.stall.window, following.stall.window
    return came.start_ns < busy.start_ns and busy.end_ns <= aftermath(surge.stall).end_ns


def catching_up(following: Occurrence, run: RunContext) -> float:
    """Return how many times a stall's length the CPUs may be full after it."""
    cores = run.cores.of(following.subject, following.stall.window.start_ns)
    usual = [run.signals.get("cpu", "busy", name) for name in cores]
    share = float(np.mean([each.usual for each in usual if each is not None] or [0.0]))
    if (thread := run.signals.busiest_thread(following.subject)) is not None:
        share = max(share, thread.usual)
    return CROWDED * min(LONGEST, share / max(1.0 - share, 1e-9))
