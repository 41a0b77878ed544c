"""The agents' plans, from the trial's plan and the system that stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from ipaddress import ip_address
from itertools import takewhile
from pathlib import Path
from typing import Any

from tierlab.deploy.layout import Place
from tierlab.deploy.system import Subject
from tierlab.environments.addresses import Addresses
from tierlab.experiment import Load, Observe, SystemPlan, TrialPlan
from tierlab.observe.profile_needs import counted_of
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.kinds import KINDS
from tierlab.servers.own_options import host_of
from tierlab.topology import Topology, wire

STATEMENTS = frozenset({"postgresql"})
"""Protocols in which the driver sends statements; a session keeps its connection then."""

DATABASE_INTERVAL_NS = 100_000_000
"""A poll costs the server 0.3 to 0.7 ms of CPU time, by the number of its connections
(bench/sample/polls.py)."""

MOST_SESSIONS = 10_000_000
"""Kept free for the users of a system with an open loop, which are as many as it takes."""

SELDOM_NS = 10_000_000_000
"""The agent samples no more seldom."""


NO_SERVERS: Mapping[str, Sequence[Endpoint]] = {}


def drive(
    plan: TrialPlan,
    asked: SystemPlan,
    targets: Sequence[Endpoint],
    workload: Path,
    addresses: Addresses,
    *,
    login: Credentials,
    servers: Mapping[str, Sequence[Endpoint]] = NO_SERVERS,
) -> dict[str, Any]:
    """Drive a system's users against ``targets`` in turn as the workload file describes them.

    ``login``: as whom they come, where they send statements to a database. ``servers``: by tier,
    those that users call beside the first.
    """
    load = asked.load
    every = [*targets, *(each for its in servers.values() for each in its)]
    kept = any(target.protocol in STATEMENTS for target in targets)
    before = takewhile(lambda each: each.name != asked.name, plan.systems)
    return {
        "system": asked.name or None,
        "first_user": sum(each.load.users or MOST_SESSIONS for each in before),
        "targets": [_target(target, login, _host(asked)) for target in targets],
        "servers": {
            tier: [_target(target, login, _host(asked, tier)) for target in its]
            for tier, its in servers.items()
        },
        "workload": str(workload.resolve()),
        "users": load.users or 1,
        "seed": plan.seed,
        "loop": _pace(asked),
        "shape": _shape(load),
        # Those of no length too: staggered users start over the first, which is the ramp-up.
        "phases": [
            {"name": name, "duration_ns": duration} for name, duration in phases(load).items()
        ],
        "connection": "keep_alive" if kept else load.connection.replace("-", "_"),
        "timeouts": {
            "connect_ns": load.timeouts.connect_ns,
            "request_ns": load.timeouts.request_ns,
        },
        "sources": [str(addresses.users)] if _reached(every, addresses) else [],
        "images": load.images,
        "request_ids": True,
        "traces": asked.system.application.hands_on_traces,
    }


def _reached(targets: Sequence[Endpoint], addresses: Addresses) -> bool:
    """Whether the users' own addresses lead to the targets: on the trial's network they do."""
    return all(ip_address(target.address) in addresses.servers for target in targets)


def _target(target: Endpoint, login: Credentials, host: str | None) -> dict[str, Any]:
    place: dict[str, Any] = {"address": target.address, "port": target.port}
    place |= {} if host is None else {"host": host}
    return place | ({"login": asdict(login)} if target.protocol in STATEMENTS else {})


def _host(asked: SystemPlan, tier: str | None = None) -> str | None:
    """By what name users call a tier, where the file says; without one, the first tier."""
    tiers = asked.system.tiers
    return host_of(tiers[next(iter(tiers)) if tier is None else tier].settings.options)


def phases(load: Load) -> dict[str, int]:
    """Name and length in nanoseconds of each phase, in order."""
    return {
        "ramp_up": load.phases.ramp_up_ns,
        "runtime": load.phases.runtime_ns,
        "ramp_down": load.phases.ramp_down_ns,
    }


def _pace(asked: SystemPlan) -> dict[str, Any]:
    load = asked.load
    if load.speed is not None:
        return {"mode": "recorded", "speed": load.speed}
    if load.users is None:
        return {"mode": "open", "rate_per_s": load.rate, "arrivals": load.arrivals or "poisson"}
    # Cycle times are in the workload file; their mean says how many threads it takes to drive them.
    mean_ns = load.pace(asked.system.application).mean_ns
    return {"mode": "closed", "think_ns": mean_ns, "think_cap_ns": 10 * mean_ns}


def _shape(load: Load) -> list[dict[str, Any]]:
    """The load's curve since the start of the run: the ramp-up leads to its first level."""
    if load.shape.is_constant:
        return []
    ramp_up_ns = load.phases.ramp_up_ns
    curve = load.shape.curve(load.phases.runtime_ns)
    return [{"at_ns": ramp_up_ns + at_ns, "level": level} for at_ns, level in curve]


OF_SERVERS = frozenset({"listen", "database"})
"""Tables for which a sampler has to be on the server's own kernel."""

SEEN_INSIDE = (
    *("cpu", "memory", "disk", "net", "tcp", "pressure", "process"),
    *sorted(OF_SERVERS),
    "cache",
)
"""Tables that are sampled inside a domain with a kernel of its own."""


def sample(observe: Observe, subjects: Sequence[Subject]) -> dict[str, Any]:
    """Sample every resource, the servers by their control groups and processes, and what the
    databases say of themselves to whom the application logs in as, and the caches to anybody.

    Of guests only what the host sees: their control groups, with the hypervisor's threads.
    """
    here = [subject for subject in subjects if not subject.guest]
    tables = [each for each in observe.samplers if here or each not in OF_SERVERS]
    events = () if observe.profile is None else counted_of(observe.profile)
    return _sampling(observe, [*tables, *(["counters"] if events else [])], here) | {
        "events": events,
        "subjects": _members(subjects),
    }


def sample_inside(observe: Observe, guest: Subject, slowness: float) -> dict[str, Any]:
    """Sample what only the guest's own kernel, and the server in it, can tell.

    Where its CPUs are slow, as much more seldom: sampling is to cost no greater share of them.
    """
    server = KINDS[guest.place.server]
    told = {"database": server.is_database, "cache": server.is_cache}
    tables = [each for each in observe.samplers if each in SEEN_INSIDE and told.get(each, True)]
    slowly = observe.model_copy(
        update={
            name: min(getattr(observe, name) * max(1, int(slowness)), SELDOM_NS)
            for name in ("interval_ns", "thread_interval_ns")
        }
    )
    return _sampling(slowly, tables, [guest]) | {
        "subjects": [{"name": guest.name, "pids": list(guest.pids)}]
    }


def _sampling(
    observe: Observe, tables: Sequence[str], servers: Sequence[Subject]
) -> dict[str, Any]:
    """What is the same wherever the sampler is; `servers` are on the same kernel."""
    return {
        "interval_ns": observe.interval_ns,
        "thread_interval_ns": max(observe.thread_interval_ns, observe.interval_ns),
        "database_interval_ns": max(DATABASE_INTERVAL_NS, observe.interval_ns),
        "tables": list(tables),
        "databases": [
            {
                "subject": subject.name,
                "protocol": subject.endpoint.protocol,
                "socket": str(subject.folder / path),
                "user": subject.login.user,
                "password": subject.login.password,
            }
            for subject in servers
            if KINDS[subject.place.server].is_database
            and (path := KINDS[subject.place.server].socket) is not None
        ],
        "caches": [_cache(subject) for subject in servers if KINDS[subject.place.server].is_cache],
        "listen": [
            {
                "subject": subject.name,
                "address": subject.endpoint.address,
                "port": subject.endpoint.port,
            }
            for subject in servers
            if subject.endpoint.port
        ],
    }


def _cache(subject: Subject) -> dict[str, Any]:
    """Ask a cache at its socket, or at its own address."""
    server, endpoint = KINDS[subject.place.server], subject.endpoint
    where = (
        {"address": f"{endpoint.address}:{server.statistics_port}"}
        if server.socket is None
        else {"socket": str(subject.folder / server.socket)}
    )
    return {"subject": subject.name, "protocol": endpoint.protocol, **where}


def capture(places: Sequence[Place], interface: str) -> dict[str, Any]:
    """Capture what the servers say at TCP ports, where all of it passes."""
    return {
        "interface": interface,
        "servers": [
            {
                "name": place.name,
                "address": place.endpoint.address,
                "port": place.endpoint.port,
                "protocol": wire(place.endpoint.protocol),
                "pass_through": place.pass_through,
            }
            for place in places
            if place.endpoint.port
        ],
    }


def trace(subjects: Sequence[Subject]) -> dict[str, Any]:
    """Trace the threads of the servers whose processes this host's kernel knows.

    Not of those that hand each connection's bytes on to one of their own: the connections tell more
    than their threads.
    """
    here = [each for each in subjects if not each.guest and not each.place.pass_through]
    return {
        "subjects": _members(here),
        "servers": [
            {
                "name": subject.name,
                "protocol": wire(subject.endpoint.protocol),
                "address": subject.endpoint.address,
                "port": subject.endpoint.port,
            }
            for subject in subjects
            if subject.endpoint.listens
        ]
        + at_sockets([subject.place for subject in subjects]),
    }


def _members(subjects: Sequence[Subject]) -> list[dict[str, Any]]:
    return [
        {
            "name": subject.name,
            "cgroups": {name: str(path) for name, path in subject.cgroups.items()},
            "pids": [] if subject.cgroups or subject.guest else list(subject.pids),
        }
        for subject in subjects
    ]


def at_sockets(places: Sequence[Place]) -> list[dict[str, Any]]:
    """The servers that listen at UNIX sockets, as the tracer of system calls is told of them."""
    return [
        {
            "name": place.name,
            "protocol": wire(place.endpoint.protocol),
            "socket": place.endpoint.socket,
        }
        for place in places
        if place.endpoint.socket is not None
    ]


def link(
    raw_visits: Path,
    topology: Topology,
    kind_of: Mapping[str, str],
    *,
    also: Sequence[Path] = (),
    turns: Path | None = None,
) -> dict[str, Any]:
    """Link visits to those of the servers that call.

    ``kind_of`` has every server's kind, ``also`` the visits over UNIX sockets, ``turns`` what
    threads did for them.
    """
    callers = topology.tier_of.keys() - topology.workers
    callees = {name: topology.callees(name) for name in topology.tier_of if name in callers}
    return {
        "input": str(raw_visits),
        "also": [str(each) for each in also],
        "turns": None if turns is None else str(turns),
        "servers": {caller: called for caller, called in callees.items() if called},
        "event_loops": [name for name, kind in kind_of.items() if KINDS[kind].is_event_loop],
    }
