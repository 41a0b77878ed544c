"""Network: what was sent to a server reached it late, while both ends were idle."""

from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import queued_to_its_end
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.reached_late import reached_late, sender_idle
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "network"


def judge(context: StallContext) -> Suspect | None:
    """Weigh packets that queued before the wire and waits that ended with an arrival downstream."""
    case = reached_late(NAME, context)
    if case is None:
        return None
    case.direct(
        "net", support("queued bytes", queued_to_its_end(context)), "packets waited to be sent"
    )
    sender_idle(case, context)
    return case.suspect()


def happened(_context: StallContext) -> str:
    """Say what happened."""
    return "was reached late: packets on the way to it waited, while both ends were idle"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="find what limits the rate on that way: a shaper or policy, a saturated link, a "
            "neighbour's transfer; give this traffic its own class",
            expected="requests arrive as they are sent",
        )
    ]


CAUSE = Cause(
    NAME,
    "a slow network",
    judge,
    happened,
    remedies,
    leading=None,
    # Whoever waits for an answer on its way keeps its worker and its connection meanwhile.
    explains=frozenset({"pool"}),
)
