"""Who was reached late over the network, while its sender had nothing else to wait for?"""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.evidence import (
    no_lock,
    no_pause,
    pressure_beyond,
    short_of_memory,
    starved,
    stopped,
    wanting,
)
from tierlab.diagnosis.held_up import out_of_connections
from tierlab.diagnosis.neighbour import excess
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support


def reached_late(cause: str, context: StallContext) -> Case | None:
    """Open a case at whom the suspected server's messages reached late: a callee, or the caller
    where the waiting ended with the reply. None for replies to the users. Who waits for one of the
    connections that slow calls hold has sent nothing yet.
    """
    receiver, share = _receiver(context)
    if receiver is None and context.leaving is not None:
        return None
    case = Case(cause, receiver or context.subject)
    figure = "" if share is None else f": {share:.0%} of it"
    case.direct("visits", support("arrived late", share), f"the wait was before {receiver}{figure}")
    held = out_of_connections(context)
    if receiver in (context.toward or {}) and receiver != context.subject and held is not None:
        words = f"{context.subject} had connections to {receiver} left"
        case.beside("visits", against(held), words)
    return case


def sender_idle(case: Case, context: StallContext) -> None:
    """Rule the way out where the sender had a trouble of its own: whatever holds back a server that
    calls nobody ends with its replies, and a packet or two wait before a wire at any time.
    """
    name = context.subject
    case.beside("domain", against(stopped(context)), f"{name} was not stopped")
    case.beside("domain", against(short_of_memory(context)), f"{name} was not short of memory")
    beyond = support("foreign cores", excess(context))
    case.beside("domain", against(beyond), f"{name} used no CPU beyond what its visits take")
    case.beside("pressure", against(starved(context)), f"{name} did not wait for a CPU")
    io = support("io wait", pressure_beyond(context, "io"))
    case.beside("pressure", against(io), f"{name} did not wait for I/O")
    no_pause(case, context)
    no_lock(case, context)


def receiver_idle(case: Case, context: StallContext) -> None:
    """Rule the way out where the receiver had a trouble of its own: one that gets no CPU or reads
    its pages back accepts late, and what it did not acknowledge in time is sent again.
    """
    name, receiver = case.subject, context.at(case.subject)
    if receiver is None or name == context.subject:
        return
    case.beside("pressure", against(wanting(receiver)), f"{name} did not wait for a CPU")
    case.beside("domain", against(short_of_memory(receiver)), f"{name} was not short of memory")


def _receiver(context: StallContext) -> tuple[str | None, float | None]:
    """Return who was reached late (None: the users), and the share of the waiting that ended there;
    None for both where messages were not captured, and of who did not stall.
    """
    if context.leaving is None or context.toward is None:
        return None, None
    replied = max(0.0, 1.0 - sum(context.toward.values()))
    return max([*context.toward.items(), (context.above, replied)], key=lambda each: each[1])
