"""Who was turned away asks again, all at once: the queue that they make then is no new trouble.

A full accept queue drops connection requests, and TCP sends them again 1, 3, 7 s later (RFC 6298):
those of one moment come together, when the server has long gone on.
"""

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.requests.dropped import Retransmitted
from tierlab.diagnosis.backlog import FOLLOWING
from tierlab.diagnosis.incidents import aftermath
from tierlab.diagnosis.merge import UNKNOWN, Occurrence
from tierlab.diagnosis.stalls import Stall, asked_by

ECHOES = {UNKNOWN, *FOLLOWING}
MOST = 0.5
JUST_BEFORE_NS = 50_000_000
"""Who asks again just before a stall is among those who wait in it."""


def without_asked_again(
    found: Sequence[Occurrence], turned_away: Retransmitted
) -> list[Occurrence]:
    """Leave out each surge, overload and wait of no known cause in which most of those who wait ask
    again, having asked in vain during an earlier one of those found.
    """
    return [
        each
        for each in found
        if each.cause not in ECHOES
        or _asked_again(each.stall, [one.stall for one in found], turned_away)
        < MOST * each.stall.waiting
    ]


def _asked_again(stall: Stall, others: Sequence[Stall], turned_away: Retransmitted) -> int:
    """Count those who asked the stalled server again in its stall, and first in an earlier one."""
    server = asked_by(stall.server) or stall.server
    start_ns, end_ns = stall.window.start_ns, stall.window.end_ns
    first, last = turned_away.first_ns, turned_away.last_ns
    again = (start_ns - JUST_BEFORE_NS <= last) & (last < end_ns) & (first < start_ns)
    earlier = np.zeros_like(again)
    for window in (aftermath(one) for one in others if one.window.start_ns < start_ns):
        earlier |= (window.start_ns <= first) & (first < window.end_ns)
    return int(np.count_nonzero(again & earlier & (turned_away.server == server)))
