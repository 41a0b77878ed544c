"""Network: what was sent to a server reached it late, while both ends were idle."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import (
    faulting,
    no_lock,
    no_pause,
    pressure_beyond,
    queued,
    starved,
    stopped,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.neighbour import excess
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "network"


def judge(context: StallContext) -> Suspect | None:
    """Weigh packets that queued before the wire and waits that ended with an arrival downstream."""
    receiver, share = _receiver(context)
    if receiver is None and context.leaving is not None:
        return None
    case = Case(NAME, receiver or context.subject)
    figure = "" if share is None else f": {share:.0%} of it"
    case.direct("visits", support("arrived late", share), f"the wait was before {receiver}{figure}")
    case.direct("net", support("queued bytes", queued(context)), "packets waited to be sent")
    _sender_idle(case, context)
    return case.suspect()


def _sender_idle(case: Case, context: StallContext) -> None:
    """Rule the way out where the sender had a trouble of its own: whatever holds back a server that
    calls nobody ends with its replies, and a packet or two wait before a wire at any time.
    """
    name = context.subject
    case.beside("domain", against(stopped(context)), f"{name} was not stopped")
    case.beside(
        "domain", against(faulting(context)), f"{name} did not read pages back after faults"
    )
    beyond = support("foreign cores", excess(context))
    case.beside("domain", against(beyond), f"{name} used no CPU beyond what its visits take")
    case.beside("pressure", against(starved(context)), f"{name} did not wait for a CPU")
    io = support("io wait", pressure_beyond(context, "io"))
    case.beside("pressure", against(io), f"{name} did not wait for I/O")
    no_pause(case, context)
    no_lock(case, context)


def _receiver(context: StallContext) -> tuple[str | None, float | None]:
    """Return who was reached late, and the share of the waiting that ended there: a callee, or the
    caller where the waiting ended with the reply. None for replies to the users, and where messages
    were not captured.
    """
    if context.leaving is None:
        return None, None
    replied = max(0.0, 1.0 - sum(context.toward.values()))
    return max([*context.toward.items(), (context.above, replied)], key=lambda each: each[1])


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
