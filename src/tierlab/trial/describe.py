"""The manifest as it is before anything has run, and what the system adds once it stands."""

from __future__ import annotations

import os
import time
from dataclasses import asdict

from tierlab.deploy.degrees import degrees
from tierlab.deploy.system import System
from tierlab.environments.placement import Placement
from tierlab.environments.process import identify
from tierlab.experiment import TrialPlan
from tierlab.machine.fingerprint import fingerprint
from tierlab.tables.manifest import Degree, Manifest, Observation, Owner, ServerPart, VeryLong
from tierlab.trial.folder import RunFolder
from tierlab.trial.versions import programs, versions


def describe(plan: TrialPlan, folder: RunFolder) -> Manifest:
    """Write down what is asked, of whom and where."""
    data_seed = plan.seed if plan.system.data_seed is None else plan.system.data_seed
    load, me = plan.load, identify(os.getpid())
    servers = programs(tier.software for tier in plan.system.tiers.values())
    return Manifest(
        experiment=plan.experiment,
        trial=folder.trial,
        question=plan.question or None,
        environment=plan.system.environment,
        workload=plan.system.workload,
        created_ns=time.time_ns(),
        factors=plan.levels,
        seeds={"trial": plan.seed, "data": data_seed},
        versions=versions(servers, plan.system.application.libraries),
        host=fingerprint(tuple(servers.values())),
        load={
            "users": load.users,
            "rate": load.rate,
            "mix": load.mix if plan.system.application.mixes else None,
            "think_ns": load.think_ns if load.users is not None else None,
            "connection": load.connection,
            "fidelity": plan.system.fidelity,
        },
        very_long=_very_long(plan),
        plan=plan.as_file(),
        owner=Owner(pid=me.pid, start=me.start),
        observation=Observation(interval_ns=plan.observe.interval_ns),
    )


def _very_long(plan: TrialPlan) -> VeryLong:
    if isinstance(plan.very_long, str):
        return VeryLong(valley=True)
    return VeryLong(threshold_ns=plan.very_long)


def add_system(manifest: Manifest, plan: TrialPlan, system: System) -> None:
    """Write down the servers that stand and where they were placed, asked and found."""
    tiers = plan.system.tiers
    manifest.accelerator = system.accelerator
    manifest.emulated_pus = system.emulated_pus
    manifest.dnu = {
        name: [Degree(from_ns=from_ns, dnu=dnu) for from_ns, dnu in course]
        for name, course in degrees(plan.system, plan.change, system.machine).items()
    }
    for subject in system.subjects():
        tier = subject.place.tier
        manifest.servers[subject.name] = ServerPart(
            tier=tier,
            server=subject.place.server,
            version=manifest.versions.get(subject.place.server),
            address=subject.endpoint.address,
            port=subject.endpoint.port,
            protocol=subject.endpoint.protocol,
            pass_through=subject.place.pass_through,
            soft=tiers[tier].soft,
        )
        manifest.mapping[subject.name] = {
            "asked": _placement(subject.asked),
            "found": _placement(subject.found),
        }
    manifest.calls = list(system.topology.calls)


def _placement(placement: Placement) -> dict[str, object]:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(placement).items()
    }
