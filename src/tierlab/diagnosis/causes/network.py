"""Network: what was sent to a server reached it late, while both ends were idle."""

from tierlab.diagnosis.case import Case, against, ramp
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.evidence import (
    faulting,
    paused,
    pressure,
    queued,
    starved,
    stopped,
    waiting_for_locks,
)
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.neighbour import CLEAR_CORES, LEAST_CORES, within
from tierlab.diagnosis.stall_context import StallContext

NAME = "network"
MOSTLY = 0.5


def judge(context: StallContext) -> Suspect | None:
    """Weigh packets that queued before the wire and waits that ended with an arrival downstream."""
    receiver, share = _receiver(context)
    if receiver is None and context.leaving is not None:
        return None
    case = Case(NAME, receiver or context.subject)
    figure = "" if share is None else f": {share:.0%} of it"
    case.direct("visits", ramp(share, MOSTLY, 0.8), f"the wait was before {receiver}{figure}")
    case.direct("net", ramp(queued(context), 0, 500), "packets waited to be sent")
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
    beyond = ramp(within(context), LEAST_CORES, CLEAR_CORES)
    case.beside("domain", against(beyond), f"{name} used no CPU beyond what its visits take")
    case.beside("pressure", against(starved(context)), f"{name} did not wait for a CPU")
    io = ramp(pressure(context, "io"), 0.25, 0.6)
    case.beside("pressure", against(io), f"{name} did not wait for I/O")
    if context.kind == "tomcat":
        case.beside("events", against(ramp(paused(context), 0.3, 0.6)), "no pause of its runtime")
    if context.kind == "mariadb":
        locks = ramp(waiting_for_locks(context), 0, 2)
        case.beside("database", against(locks), "no statement waited for a lock")


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


CAUSE = Cause(NAME, "a slow network", judge, happened, remedies, None)
