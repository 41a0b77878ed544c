"""Who used the machine's CPUs: the servers, the driver and the observers, or somebody else?"""

from tierlab.analysis.resources.resources import Resource
from tierlab.analysis.result import Result
from tierlab.analysis.servers import Server

MUCH = 0.1
"""Other work beyond this share of the machine makes a trial one on a shared machine."""


class CpuUse(Result):
    """Means over the span, in cores. ``busy`` is of the whole machine; ``other`` is what is left of
    it without the ``servers`` and Tierlab's own ``agents``.
    """

    cores: int
    busy: float
    servers: float
    agents: float
    other: float


def agents_use(costs_ns: dict[str, int], trial_ns: int, driver_share: float | None) -> float | None:
    """Return the cores that the agents used in the span; None for a trial without a length.

    ``driver_share`` is the driver's by its own records of each second, as its ramp-up is quieter
    than its runtime. The others have no such records: theirs is their mean over the trial, as it is
    the driver's where its records are missing. The linker runs after the trial.
    """
    if trial_ns <= 0:
        return None
    used = {agent: cost / trial_ns for agent, cost in costs_ns.items() if agent != "link"}
    if driver_share is not None:
        used["drive"] = driver_share
    return sum(used.values())


def cpu_use(
    resources: list[Resource], servers: list[Server], agents: float | None
) -> CpuUse | None:
    """Divide the machine's CPU time; None unless the cores and every server were sampled.

    ``agents`` is what :func:`agents_use` returns.
    """
    cores = [each for each in resources if (each.table, each.metric) == ("cpu", "busy")]
    used = [each.cpu.mean for each in servers if each.cpu is not None]
    if not cores or len(used) < len(servers) or agents is None:
        return None
    busy = sum(each.mean for each in cores)
    return CpuUse(
        cores=len(cores),
        busy=busy,
        servers=sum(used),
        agents=agents,
        other=max(0.0, busy - sum(used) - agents),
    )
