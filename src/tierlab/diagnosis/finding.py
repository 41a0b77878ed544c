"""A finding: a claim with its windows, strength, chain, evidence and remedies.

Times are UTC nanoseconds (``*_ns``), durations seconds (``*_s``), shares and confidences 0..1.
"""

from typing import Literal

from pydantic import Field

from tierlab.analysis.result import Result

Kind = Literal["users", "cold start", "expensive"]
CostFrom = Literal["threads", "control group"]
Verdict = Literal["findings", "nothing abnormal", "not observed"]


class Window(Result):
    """A stretch of time, its end not included."""

    start_ns: int
    end_ns: int

    @property
    def duration_s(self) -> float:
        """Its length."""
        return (self.end_ns - self.start_ns) / 1e9


class Evidence(Result):
    """One thing that speaks for or against a cause: a table's figure in the window.

    ``support`` is 1 where it speaks fully for the cause, 0 where it rules it out, None where it was
    not measured; ``words`` say so with the figure.
    """

    table: str
    subject: str
    support: float | None
    words: str


class Suspect(Result):
    """A cause that was considered, how strongly the evidence speaks for it and which evidence.

    ``most`` takes what was not measured as speaking for it. ``least`` takes what would have shown
    it as speaking against it; an exclusion that could not be checked counts three quarters.
    """

    cause: str
    subject: str
    least: float
    most: float
    evidence: list[Evidence]


class Link(Result):
    """One step from the slow requests down to the cause; ``lag_s`` after the first onset."""

    subject: str
    start_ns: int
    lag_s: float
    words: str


class Delayed(Result):
    """The users' requests that were under way in the windows and took longer than usual.

    ``very_long`` of them took over ``very_long_from_s``.
    """

    count: int
    very_long: int
    very_long_from_s: float
    worst_s: float | None


class Remedy(Result):
    """What to change, and what to expect of it."""

    change: str
    expected: str


class Capacity(Result):
    """An estimate of the load that could have been carried, each with its 95 % interval over
    seconds: ``throughput`` in requests a second and, of a closed loop, ``users``, which is
    throughput x (think time + response time of quiet times). ``offered_users`` came.
    """

    throughput: float
    throughput_low: float
    throughput_high: float
    think_s: float | None
    quiet_response_s: float | None
    offered_users: int | None
    users: float | None
    users_low: float | None
    users_high: float | None


class Demand(Result):
    """What made demand exceed the CPUs' capacity for seconds: more ``users`` than it can serve, a
    ``cold start`` (a visit took ``cost_s`` of CPU time, and ``later_cost_s`` later), or an
    ``expensive`` kind of request, ``label``, whose share of the time rose by ``label_gained``.
    ``cost_from`` says what measured the CPU time: the ``threads`` that served the visits, or the
    server's ``control group``, divided by its visits. ``cost_ratio`` is the CPU time of a visit
    over what it is in the rest of the trial, at the server, of those that matter, where it rose
    least.
    """

    kind: Kind
    label: str | None
    label_gained: float | None
    cost_s: float | None
    later_cost_s: float | None
    capacity: Capacity | None
    cost_ratio: float | None = None
    cost_from: CostFrom | None = None


class BusyFunction(Result):
    """A function that was at work in the windows more often than otherwise, by a profile: of the
    windows' ``samples`` of all CPUs so many, and which ``share``; ``usual_share`` is that of the
    rest of the run. ``symbol`` is None where it is not known.
    """

    domain: str
    binary: str | None
    symbol: str | None
    samples: int
    share: float
    usual_share: float


class Finding(Result):
    """One bottleneck, however often it came back: what, where, when and how sure.

    ``cause`` is a name of the catalogue, or ``unknown``. ``unusual`` is the share of equally long
    windows of this run in which the leading evidence was as strong (a permutation p-value).
    ``demand`` is there for an overload that lasted, ``functions`` where the run has a profile.
    """

    cause: str
    subject: str
    tier: str
    words: str
    windows: list[Window]
    confidence: float
    unusual: float | None
    delayed: Delayed | None
    chain: list[Link]
    evidence: list[Evidence]
    ruled_out: list[Suspect]
    not_ruled_out: list[Suspect]
    remedies: list[Remedy]
    demand: Demand | None = None
    functions: list[BusyFunction] = Field(default_factory=list)


class Diagnosis(Result):
    """All that is found in a run. ``format`` rises when a key changes its meaning or goes away.

    ``missing`` gives the sources that would have made the diagnosis surer, with the reasons.
    """

    format: int = 1
    verdict: Verdict
    words: str
    findings: list[Finding]
    missing: dict[str, str]
