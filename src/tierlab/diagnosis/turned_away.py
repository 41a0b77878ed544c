"""Who was turned away asks again, all at once: the queue that they make then is no new trouble.

A full accept queue drops connection requests, and TCP sends them again 1, 3, 7 s later (RFC 6298):
those of one moment come together, when the server has long gone on.
"""

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.requests.dropped import Retransmitted
from tierlab.diagnosis.backlog import FOLLOWING
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.incidents import aftermath
from tierlab.diagnosis.merge import UNKNOWN, Occurrence
from tierlab.diagnosis.signals import Stretches
from tierlab.diagnosis.stalls import Stall, asked_by

ECHOES = {UNKNOWN, *FOLLOWING}
MOST = 0.5
"""Of those who wait so many asked again: then the wait is theirs."""

JUST_BEFORE_NS = 50_000_000
"""Who asks again just before a stall is among those who wait in it."""


def without_asked_again(
    found: Sequence[Occurrence], turned_away: Retransmitted
) -> list[Occurrence]:
    """Leave out each surge, overload and wait of no known cause in which most of those who wait ask
    again, having asked in vain during an earlier one of those found.
    """
    windows = [aftermath(each.stall) for each in found]
    return [
        each
        for each in found
        if each.cause not in ECHOES or not _is_theirs(each.stall, windows, turned_away)
    ]


def _is_theirs(stall: Stall, windows: Sequence[Window], turned_away: Retransmitted) -> bool:
    """Say whether most of those who wait asked the server again, and first in an earlier window."""
    server = asked_by(stall.server) or stall.server
    start_ns, end_ns = stall.window.start_ns, stall.window.end_ns
    first, last = turned_away.first_ns, turned_away.last_ns
    again = (start_ns - JUST_BEFORE_NS <= last) & (last < end_ns) & (first < start_ns)
    asked = first[again & (turned_away.server == server)]
    if asked.size < MOST * stall.waiting:
        return False
    earlier = Stretches.of([each for each in windows if each.start_ns < start_ns])
    return bool(np.count_nonzero(earlier.touch(asked, asked + 1)) >= MOST * stall.waiting)
