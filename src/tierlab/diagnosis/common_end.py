"""Packets late on two ways of one server: then it is its own network, the end that both share.

Who loses what comes to it also loses the answers to what it asks others: so its calls seem to reach
them late, too.
"""

from collections.abc import Sequence

from tierlab.diagnosis.causes import loss, network
from tierlab.diagnosis.merge import Occurrence

BETWEEN = {loss.NAME, network.NAME}
"""Causes of who was reached late by whom."""


def without_other_ways(found: Sequence[Occurrence]) -> list[Occurrence]:
    """Leave out each server that was reached late by one which was itself reached late meanwhile,
    by the same cause, and is told of. Of two that reached each other late it is the one that kept
    requests waiting for less.
    """
    alone = [each for each in found if not any(_follows(each, other) for other in found)]
    return [each for each in found if not any(_follows(each, other) for other in alone)]


def _follows(each: Occurrence, other: Occurrence) -> bool:
    if not _is_at_sender(other, each):
        return False
    return not _is_at_sender(each, other) or each.stall.total_ns < other.stall.total_ns


def _is_at_sender(other: Occurrence, each: Occurrence) -> bool:
    one, two = other.stall.window, each.stall.window
    meanwhile = one.start_ns < two.end_ns and two.start_ns < one.end_ns
    between = each.cause in BETWEEN and each.subject != each.stall.server
    return between and meanwhile and (other.cause, other.subject) == (each.cause, each.stall.server)
