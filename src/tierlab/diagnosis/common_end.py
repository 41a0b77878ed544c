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
    """Leave out those in whom a server reached late while it was itself reached late by the same
    cause.
    """
    return [
        each
        for each in found
        if each.cause not in BETWEEN
        or each.subject == each.stall.server
        or not any(_is_at_sender(other, each) for other in found)
    ]


def _is_at_sender(other: Occurrence, each: Occurrence) -> bool:
    one, two = other.stall.window, each.stall.window
    meanwhile = one.start_ns < two.end_ns and two.start_ns < one.end_ns
    return other.cause == each.cause and other.subject == each.stall.server and meanwhile
