"""Weight: those who share the server's CPUs weigh more than it does, and take what it needs."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.cpu_share import no_limit, outweighed, weight
from tierlab.diagnosis.evidence import SOME, no_pause, pressure, short_of_memory, starved
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "weight"


def judge(context: StallContext) -> Suspect:
    """Weigh the server's wait for CPU and how little it weighs beside those on its CPUs."""
    case = Case(NAME, context.subject)
    waited = pressure(context, "cpu")
    figure = "" if waited is None else f" {waited:.0%} of the time"
    case.direct("pressure", starved(context), f"its threads were ready and got no CPU{figure}")
    times = outweighed(context)
    more = "" if times is None else f" {times:.1f} times"
    case.direct("domain", support("outweighed", times), f"the others' weight is{more} its own")
    case.beside("domain", against(short_of_memory(context)), "it was not short of memory")
    no_pause(case, context)
    no_limit(case, context)
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    times = outweighed(context)
    more = f": theirs was {times:.0f} times its own" if times is not None else ""
    return f"waited for a CPU that others of more weight had{more}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    mine = weight(context)
    now = f" (now {mine:.0f}, where 1024 is the usual)" if mine is not None else ""
    return [
        Remedy(
            change=f"raise the CPU weight of {context.subject}'s domain{now} (cpu.weight, "
            "cpu.shares) to that of those beside it or more",
            expected="it gets its share of the CPUs when all want to run",
        )
    ]


CAUSE = Cause(
    NAME,
    "too low a CPU weight",
    judge,
    happened,
    remedies,
    Leading("pressure", SOME, "resource = 'cpu'"),
    # Whoever is on its CPUs gets ahead of it, and its connections and locks are held meanwhile.
    explains=frozenset({"cpu", "overload", "lock", "pool"}),
)
