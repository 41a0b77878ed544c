"""The manifest as it is before anything has run, and what the system adds once it stands."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tierlab.deploy.degrees import degrees
from tierlab.deploy.systems import Systems
from tierlab.environments.identity import identify
from tierlab.environments.placement import Placement
from tierlab.environments.whereabouts import here
from tierlab.experiment import Load, SystemPlan, TrialPlan
from tierlab.machine.fingerprint import fingerprint
from tierlab.tables.folder import RunFolder
from tierlab.tables.manifest import (
    Degree,
    Manifest,
    Observation,
    Owner,
    ServerPart,
    SystemPart,
    VeryLong,
)
from tierlab.tables.rules import RunRules
from tierlab.topology import Call
from tierlab.trial.versions import programs, versions
from tierlab.workloads.own.secrets import without_secrets


def describe(plan: TrialPlan, folder: RunFolder) -> Manifest:
    """Write down what is asked, of whom and where."""
    me, place, systems = identify(os.getpid()), here(), plan.systems
    servers = programs(tier.software for each in systems for tier in each.system.tiers.values())
    return Manifest(
        experiment=plan.experiment,
        trial=folder.trial,
        question=plan.question or None,
        environment=plan.system.environment,
        workload=", ".join(dict.fromkeys(each.system.workload for each in systems)),
        created_ns=time.time_ns(),
        factors=plan.levels,
        seeds={"trial": plan.seed, **{_key("data", e): data_seed(plan, e) for e in systems}},
        versions=versions(servers, _libraries(systems)),
        host=fingerprint(tuple(servers.values())),
        load=_load(plan.systems[0]) if not plan.several else _together(plan.several),
        systems={
            each.name: SystemPart(
                workload=each.system.workload, load=_load(each), rules=_rules(each)
            )
            for each in plan.several
        },
        rules=None if plan.several else _rules(plan.systems[0]),
        very_long=_very_long(plan),
        plan=without_secrets(plan.as_file()),
        inputs=notes_on_inputs(plan),
        owner=Owner(
            pid=me.pid,
            start=me.start,
            machine=place.machine,
            pid_namespace=place.pid_namespace,
        ),
        observation=Observation(interval_ns=plan.observe.interval_ns),
    )


def notes_on_inputs(plan: TrialPlan) -> list[str]:
    """Return what was not understood of the files that the applications were brought with."""
    systems = plan.systems
    return [note for each in systems for note in each.system.application.notes()]


def data_seed(plan: TrialPlan, asked: SystemPlan) -> int:
    """The seed of a system's data set."""
    own = asked.system.data_seed
    return plan.seed if own is None else own


def _key(what: str, asked: SystemPlan) -> str:
    return f"{what} of {asked.name}" if asked.name else what


def _libraries(systems: Sequence[SystemPlan]) -> Path | None:
    """Those of the application that brings some."""
    found = (each.system.application.libraries for each in systems)
    return next((each for each in found if each is not None), None)


def _load(asked: SystemPlan) -> dict[str, Any]:
    load, system = asked.load, asked.system
    paced = load.users is not None and not system.application.own_think
    pace = load.pace(system.application) if paced else None
    return {
        "users": load.users,
        "rate": load.rate,
        "speed": load.speed,
        "mix": load.mix if system.application.mixes else None,
        "shape": None if load.shape.is_constant else _shape(load),
        "think_ns": None if pace is None else pace.think_ns,
        "cycle_ns": None if pace is None else pace.cycle_ns,
        "connection": load.connection,
        "images": load.images,
        "arrivals": None if load.rate is None else load.arrivals,
        "start": None if load.users is None else load.start,
        "timeouts": load.timeouts.model_dump(),
        "fidelity": system.fidelity,
    }


def _shape(load: Load) -> dict[str, Any]:
    """The curve that is asked for: nanoseconds since the start of the runtime, each with the users
    or the rate then.
    """
    full = load.rate if load.users is None else load.users
    curve = load.shape.curve(load.phases.runtime_ns)
    return {
        "kind": load.shape.name,
        "curve": [[at_ns, level * (full or 0)] for at_ns, level in curve],
    }


def _rules(asked: SystemPlan) -> RunRules | None:
    return asked.system.application.rules(asked.load.mix or "")


def _together(systems: Sequence[SystemPlan]) -> dict[str, Any]:
    """The users of all systems, and what they have in common."""
    users = [each.load.users for each in systems if each.load.users is not None]
    rates = [each.load.rate for each in systems if each.load.rate is not None]
    first, *others = map(_load, systems)
    alike = {
        key: value if all(each[key] == value for each in others) else None
        for key, value in first.items()
    }
    return alike | {"users": sum(users) or None, "rate": sum(rates) or None}


def _very_long(plan: TrialPlan) -> VeryLong:
    if isinstance(plan.very_long, str):
        return VeryLong(valley=True)
    return VeryLong(threshold_ns=plan.very_long)


def add_systems(manifest: Manifest, plan: TrialPlan, systems: Systems) -> None:
    """Write down the servers that stand and where they were placed, asked and found."""
    tiers = {each.name: each.system.tiers for each in plan.systems}
    manifest.accelerator = systems.accelerator
    manifest.emulated_pus = systems.emulated_pus
    shapes = {each.name: each.system for each in plan.systems}
    manifest.dnu = {
        name: [Degree(from_ns=from_ns, dnu=dnu) for from_ns, dnu in course]
        for name, course in degrees(shapes, plan.change, systems.machine).items()
    }
    for subject in systems.subjects():
        place = subject.place
        if (unseen := systems.domain(subject.name).unseen()) is not None:
            manifest.not_measured[f"process of {subject.name}"] = unseen
        asked = tiers[place.system][place.own_tier]
        manifest.servers[subject.name] = ServerPart(
            tier=place.tier,
            system=place.system or None,
            server=place.server,
            version=manifest.versions.get(place.server),
            address=subject.endpoint.address,
            port=subject.endpoint.port,
            socket=subject.endpoint.socket,
            protocol=subject.endpoint.protocol,
            pass_through=place.pass_through,
            worker_threads=asked.software.worker_threads,
            is_database=asked.software.is_database,
            soft=asked.soft,
        )
        manifest.mapping[subject.name] = {
            "asked": _placement(subject.asked),
            "found": _placement(subject.found),
        }
    manifest.calls = [
        replace(call, found=_pair(call, manifest) in plan.found) for call in systems.topology.calls
    ]


def found_in(manifest: Manifest) -> frozenset[tuple[str, str, str]]:
    """The calls of a trial that no file says, as its plan has them."""
    return frozenset(_pair(call, manifest) for call in manifest.calls or () if call.found)


def _pair(call: Call, manifest: Manifest) -> tuple[str, str, str]:
    """Of which system a call is, and between which of its tiers."""
    caller, callee = manifest.servers[call.caller], manifest.servers[call.callee]
    return caller.system or "", _own(caller.tier), _own(callee.tier)


def _own(tier: str) -> str:
    return tier.rpartition(".")[2]


def _placement(placement: Placement) -> dict[str, object]:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(placement).items()
    }
