"""All figures of one trial. Terminal, JSON and HTML show this and nothing else."""

from pydantic import Field

from tierlab.analysis.by_system import SystemFigures, by_system
from tierlab.analysis.caveats import caveats
from tierlab.analysis.comparing.changes import Change, changes
from tierlab.analysis.event_counts import EventCount, event_counts
from tierlab.analysis.facts import Facts, facts
from tierlab.analysis.observation import ObservationCost, observation_cost
from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.busy_workers import busy_workers
from tierlab.analysis.queues.little import (
    LawCheck,
    not_counted,
    queue_checks,
    users_check,
    worker_checks,
)
from tierlab.analysis.queues.visits import Linking, linking, server_visits
from tierlab.analysis.queues.waits import ServerWaits, server_waits
from tierlab.analysis.requests.driver import Driver, driver, recorded_cpu_share
from tierlab.analysis.requests.histogram import Bucket, histogram
from tierlab.analysis.requests.load_course import mean_users
from tierlab.analysis.requests.responses import Interaction, Responses, interactions, responses
from tierlab.analysis.requests.run_rules import RunVerdict, run_verdict
from tierlab.analysis.requests.thinking import thought_share
from tierlab.analysis.requests.time_shares import TimeShares, time_shares
from tierlab.analysis.requests.very_long import VeryLong, very_long
from tierlab.analysis.resources.cpu_use import CpuUse, agents_use, cpu_use
from tierlab.analysis.resources.layers import Layers, layers
from tierlab.analysis.resources.profile import EventProfile, profile
from tierlab.analysis.resources.resources import Resource, resources
from tierlab.analysis.result import Result
from tierlab.analysis.servers import Server, servers
from tierlab.analysis.span import Span
from tierlab.tables.run import Run

INSIDE = {"inside_cpu", "inside_disk"}
BUSY = {"cpu", "disk"} | INSIDE
"""Tables with the busy shares of cores and disks."""


class Summary(Result):
    """The figures of the runtime. ``format`` rises when a key changes its meaning or goes away.

    ``not_measured`` gives each table or figure that is missing its reason; ``caveats`` are
    sentences about what makes the figures less than they seem.
    """

    format: int = 1
    facts: Facts
    responses: Responses | None
    systems: list[SystemFigures] = Field(default_factory=list)
    histogram: list[Bucket]
    very_long: VeryLong | None
    interactions: list[Interaction]
    rules: RunVerdict | None = None
    time: TimeShares | None
    servers: list[Server]
    waits: list[ServerWaits] = Field(default_factory=list)
    linking: Linking | None
    resources: list[Resource]
    busiest: list[Resource]
    cpu: CpuUse | None
    layers: Layers | None
    profile: list[EventProfile] = Field(default_factory=list)
    events: list[EventCount]
    changes: list[Change]
    checks: list[LawCheck]
    driver: Driver | None
    observation: ObservationCost
    not_measured: dict[str, str]
    caveats: list[str]


def summarise(observed: Observed) -> Summary:
    """Compute every figure of the run."""
    run, db, span = observed.run, observed.db, observed.measured
    over = observed.very_long
    if observed.whole is None or span is None or over is None:
        return _nothing(run)
    tier_of = {name: part.tier for name, part in run.manifest.servers.items()}
    about = facts(run.manifest, span)
    found = resources(db, span)
    shares = time_shares(db, span, tier_of)
    visits = server_visits(db, span)
    if shares is not None:
        visits.sort(key=lambda each: shares.position(each.server))
    entry = [] if shares is None else [s for t in shares.tiers if t.depth == 0 for s in t.servers]
    linked = linking(db, span, entry) if shares is not None else None
    all_responses = responses(db, span)
    there = mean_users(db, observed.whole, span, run.manifest)
    # Of users whose number changes, the law is about their mean, which nobody asked for.
    users = about.users if about.shape is None else None
    thought = thought_share(db, span) if users is not None else None
    law = users_check(all_responses, span.seconds, users, about.think_s, thought)
    counts = busy_workers(db, span, observed.in_progress)
    trial_ns = observed.whole.duration_ns
    all_servers = servers(run.manifest, visits, peaks(observed, span), found, shares)
    costs = run.manifest.observation.costs
    agents = agents_use(costs, trial_ns, recorded_cpu_share(db, span))
    emulated = run.manifest.emulated_pus
    # Time on emulated PUs is no share of the host's.
    use = cpu_use(found, all_servers, agents) if emulated is None else None
    return Summary(
        facts=about,
        responses=all_responses,
        systems=by_system(db, span, run.manifest, there),
        histogram=histogram(db, span),
        very_long=very_long(db, span, over),
        interactions=interactions(db, span),
        rules=run_verdict(db, span, run.manifest.rules, there.get("")),
        time=shares,
        servers=all_servers,
        waits=server_waits(db, span, visits, run.manifest),
        linking=linked,
        resources=found,
        busiest=busiest(found, elsewhere=run.manifest.elsewhere),
        cpu=use,
        layers=layers(db, span, found, emulated or cores(found)),
        profile=profile(db, span) if run.has("counters") else [],
        events=event_counts(db, span),
        changes=changes(db, observed.whole, span, run.manifest),
        checks=[
            *queue_checks(visits),
            *worker_checks(counts),
            *([law] if law is not None else []),
        ],
        driver=driver(db, span, costs.get("drive"), trial_ns),
        observation=observation_cost(run.manifest.observation, trial_ns, cores(found)),
        not_measured={
            **not_measured(run),
            **not_counted((each.server for each in visits if each.count), counts),
        },
        caveats=caveats(
            about,
            observed.note,
            all_responses,
            shares=shares,
            entries={tier_of[name] for name in run.manifest.topology.entries},
            visits=visits,
            linked=linked,
            use=use,
            unseen=run.manifest.unseen_at_sockets,
            inputs=run.manifest.inputs,
        ),
    )


def peaks(observed: Observed, span: Span) -> dict[str, float]:
    """Return each server's peak queue length in the span."""
    lengths = observed.queue_lengths
    names = lengths.by_server if lengths is not None else []
    found = {name: lengths.peak(name, span) for name in names if lengths is not None}
    return {name: peak for name, peak in found.items() if peak is not None}


def busiest(found: list[Resource], *, elsewhere: bool = False) -> list[Resource]:
    """Return the cores and disks by their mean busy share, the busiest first: this machine's, and
    those that guests see, which may be full on cores that are not. With servers ``elsewhere`` this
    machine's are the driver's alone, and left out.
    """
    tables = INSIDE if elsewhere else BUSY
    busy = [each for each in found if each.metric == "busy" and each.table in tables]
    return sorted(busy, key=lambda each: (-each.mean, -each.peak, each.subject))


def cores(found: list[Resource]) -> int | None:
    """Return how many cores were sampled; None when none was."""
    return sum((each.table, each.metric) == ("cpu", "busy") for each in found) or None


def not_measured(run: Run) -> dict[str, str]:
    """Return what the manifest and the folder say is missing, and why."""
    return dict(sorted({**run.missing, **run.manifest.not_measured}.items()))


def _nothing(run: Run) -> Summary:
    about = facts(run.manifest, None)
    return Summary(
        facts=about,
        responses=None,
        histogram=[],
        very_long=None,
        interactions=[],
        time=None,
        servers=servers(run.manifest, [], {}, [], None),
        linking=None,
        resources=[],
        busiest=[],
        cpu=None,
        layers=None,
        events=[],
        changes=[],
        checks=[],
        driver=None,
        observation=observation_cost(run.manifest.observation, 0, None),
        not_measured=not_measured(run),
        caveats=caveats(
            about,
            None,
            None,
            shares=None,
            entries=set(),
            visits=[],
            linked=None,
            use=None,
            unseen=[],
            inputs=run.manifest.inputs,
        ),
    )
