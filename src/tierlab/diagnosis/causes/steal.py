"""Steal: the hypervisor ran somebody else on the CPUs that the server was to have."""

from tierlab.diagnosis.case import Case, against, weakened
from tierlab.diagnosis.cause import Cause, Leading
from tierlab.diagnosis.cpu_share import own_cpus, stolen, throttled
from tierlab.diagnosis.evidence import wanting
from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

NAME = "steal"


def judge(context: StallContext) -> Suspect:
    """Weigh the time that the server's CPUs were not given by the hypervisor."""
    case = Case(NAME, context.subject)
    share = stolen(context)
    figure = "" if share is None else f": {share:.0%} of the time"
    case.direct("cpu", support("stolen", share), f"a hypervisor gave its CPUs to others{figure}")
    # On CPUs of its own time is stolen only from what wants to run there. On others' it may be from
    # whoever; then he who had the CPU seems to run, and not to wait.
    if not own_cpus(context):
        case.beside("pressure", weakened(wanting(context)), "its threads wanted a CPU")
    limited = support("throttled", throttled(context))
    case.beside("domain", against(limited), "no limit held it back")
    return case.suspect()


def happened(context: StallContext) -> str:
    """Say what happened."""
    share = stolen(context)
    figure = f" {share:.0%} of the time" if share is not None else ""
    return f"did not get its CPUs{figure}: the hypervisor ran others on them"


def remedies(_context: StallContext) -> list[Remedy]:
    """Say what to change."""
    return [
        Remedy(
            change="give this virtual machine CPUs of its own (pinned, or a host that is not "
            "overcommitted), a larger share, or a class of instance without CPU credits",
            expected="no time is stolen",
        )
    ]


CAUSE = Cause(
    NAME,
    "CPU time stolen by the hypervisor",
    judge,
    happened,
    remedies,
    Leading("cpu", "steal"),
    # Meanwhile nobody heeds what a disk has done, either, or a limit's next period.
    explains=frozenset({"cpu", "weight", "overload", "freeze", "lock", "pool"})
    | {"quota", "memory", "disk", "checkpoint", "cold_cache"},
)
