"""What did watching cost?"""

from tierlab.analysis.result import Result
from tierlab.tables.manifest import Observation

_DURING = ("sample", "capture", "trace", "profile")


class AgentCost(Result):
    """CPU time of one agent over the trial; ``core_share`` is that as a share of one core."""

    agent: str
    cpu_s: float
    core_share: float | None


class ObservationCost(Result):
    """The observers' cost.

    ``core_share`` and ``machine_share`` are of the agents that ran during the trial to observe it:
    the sampler, the tracer and perf, not the driver. ``throughput_ratio`` is throughput with
    observation on over off, when the experiment measured both.
    """

    interval_s: float | None
    cpu_source: str | None
    agents: list[AgentCost]
    core_share: float | None
    machine_share: float | None
    throughput_ratio: float | None


def observation_cost(observation: Observation, trial_ns: int, cores: int | None) -> ObservationCost:
    """Put the agents' CPU time (``observation.costs``) in relation to the trial's length."""
    per_ns = 1 / trial_ns if trial_ns > 0 else None
    observers = [observation.costs[agent] for agent in _DURING if agent in observation.costs]
    share = sum(observers) * per_ns if observers and per_ns is not None else None
    return ObservationCost(
        interval_s=observation.interval_ns / 1e9 if observation.interval_ns else None,
        cpu_source=observation.cpu_source,
        agents=[
            AgentCost(
                agent=agent,
                cpu_s=cost / 1e9,
                core_share=cost * per_ns if per_ns is not None else None,
            )
            for agent, cost in sorted(observation.costs.items())
        ],
        core_share=share,
        machine_share=share / cores if share is not None and cores else None,
        throughput_ratio=observation.throughput_ratio,
    )
