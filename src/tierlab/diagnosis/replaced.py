"""Were a server's own processes replaced by others?"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

SEEN_NS = 1_200_000_000
"""A process is looked at once a second, and looked for as often."""
LATER_NS = 1_000_000_000
"""Those who end may serve what they have first, and connections wait before they are missed."""
STARTED_NS = 5_000_000_000
"""Who manages a pool may start them one by one: httpd one, then twice as many each second ("Apache
MPM Common Directives", MaxSpawnRate)."""


def replaced(context: StallContext) -> float | None:
    """Return the share of the server's own processes that ended in the window, or a second or two
    before it, while as many began, up to some seconds after it. None where none was looked at.
    """
    lives = context.signals.own_lives(context.subject)
    begin, end = context.window.start_ns - SEEN_NS - LATER_NS, context.window.end_ns
    there = [each for each in lives if each.start_ns < begin + SEEN_NS and each.end_ns >= begin]
    if not there:
        return None
    last = max(each.end_ns for each in lives)
    ended = [each for each in there if each.end_ns <= min(end, last - SEEN_NS)]
    first = min(each.start_ns for each in lives)
    begun = [
        each for each in lives if max(begin, first) + SEEN_NS < each.start_ns <= end + STARTED_NS
    ]
    return min(len(ended), len(begun)) / len(there)


def no_restart(case: Case, context: StallContext) -> None:
    """Rule a cause out where the server's processes were replaced; nothing is said otherwise."""
    share = support("replaced", replaced(context))
    if share:
        case.beside("process", against(share), "its processes were not replaced")
