"""CPU: the server was ready to run, and a neighbour had its cores."""

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.cpu_share import no_limit, outweighed
from tierlab.diagnosis.evidence import SOME, no_pause, pressure, short_of_memory, starved
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.neighbour import foreign, host, outside, taken, within
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.surge import surge
from tierlab.diagnosis.thresholds import support

NAME = "cpu"


def judge(context: StallContext) -> Suspect:
    """Weigh the server's wait for CPU and the CPU time that served no request."""
    case = Case(NAME, host(context).subject)
    waited = pressure(context, "cpu")
    figure = "" if waited is None else f" {waited:.0%} of the time"
    case.direct("pressure", starved(context), f"its threads were ready and got no CPU{figure}")
    others = foreign(context)
    cores = "" if others is None else f": {others:.1f} cores"
    case.direct("domain", taken(context), f"CPU time went where no request was served{cores}")
    case.beside("domain", against(short_of_memory(context)), "it was not short of memory")
    no_pause(case, context)
    case.beside("visits", against(support("surge", surge(context))), "no surge of users")
    no_limit(case, context)
    low = support("outweighed", outweighed(context))
    case.beside("domain", against(low), "its weight is not below the others'")
    return case.suspect()


def stands_alone(context: StallContext) -> bool:
    """Say whether its own domain used the CPUs: one outside of all domains holds back every server,
    and beside another cause that may be all there is to it.
    """
    inside = within(context)
    return inside is not None and inside >= (outside(context) or 0.0)


def happened(context: StallContext) -> str:
    """Say what happened."""
    others = foreign(context)
    cores = f" ({others:.1f} cores' worth)" if others else ""
    return f"waited for a CPU that a neighbour on its cores kept busy{cores}"


def remedies(context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change=f"pin {context.subject} and its neighbour to different cores",
            expected="it gets a CPU whenever it has work",
        ),
        Remedy(
            change=f"give {context.subject}'s domain a higher weight than its neighbours'",
            expected="it waits for a fraction of the time",
        ),
    ]


CAUSE = Cause(
    NAME,
    "a neighbour on the CPU",
    judge,
    happened,
    remedies,
    Leading("pressure", SOME, "resource = 'cpu'"),
    stands_alone=stands_alone,
)
