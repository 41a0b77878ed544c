"""The drivers of a trial: one for the users of each system."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tierlab.deploy.system import System
from tierlab.deploy.systems import Systems
from tierlab.environments.addresses import Addresses
from tierlab.experiment import SystemPlan, TrialPlan
from tierlab.observe import plans
from tierlab.observe.agent import Spawn, Verb
from tierlab.tables.folder import RunFolder
from tierlab.workloads.own.kept_users import without_secrets
from tierlab.workloads.sessions.delay import with_cycle, without_delays
from tierlab.workloads.workload import DataKey

READY_S = 30.0
GRACE_S = 30.0
"""For the last requests after the last phase, and for the tables."""


class Drivers:
    """Drives every system's users at once, through phases that all have in common."""

    def __init__(self, plan: TrialPlan, folder: RunFolder, data: Mapping[str, DataKey]) -> None:
        """`data`: what each system's users find, by its name."""
        self._plan, self._folder, self._data = plan, folder, data
        self.verbs: list[Verb] = []

    def start(self, systems: Systems, addresses: Addresses, passing: Path, spawn: Spawn) -> None:
        """Start them all, and wait until they drive; `UserError` if one does not. `passing`: a
        folder that is gone after the trial.
        """
        # Each drives as soon as it can: what takes long is done for all before.
        planned = [
            (each.name, self._planned(each, systems[each.name], addresses, passing))
            for each in self._plan.systems
        ]
        streams, logs = self._folder.streams, self._folder.logs
        for name, plan in planned:
            self.verbs.append(Verb("drive", plan, streams, logs, spawn, of=name))
        for verb in self.verbs:
            verb.wait_ready(READY_S)

    def _planned(
        self, asked: SystemPlan, system: System, addresses: Addresses, passing: Path
    ) -> dict[str, Any]:
        """What its driver is told; what its users do is written down."""
        load, shape = asked.load, asked.system
        if load.speed is None:
            users = shape.application.users(load.mix or "", shape.fidelity, self._data[asked.name])
        else:
            users = shape.application.replayed()
        pace = load.pace(shape.application)
        users = with_cycle(users, pace.mean_ns) if pace.cycles else without_delays(users)
        if load.start is not None:
            users["rules"]["start"] = starts(load.start, load.users or 1)
        file = f"{'.'.join(filter(None, ('workload', asked.name)))}.json"
        (self._folder.logs / file).write_text(json.dumps(without_secrets(users)))
        # What is secret lies in a folder that is gone after the trial, for nobody else to read.
        described = passing / file
        described.touch(mode=0o600)
        described.write_text(json.dumps(users))
        further = shape.application.users_call
        servers = {
            tier: [each.endpoint for each in system.places if each.own_tier == tier]
            for tier in further
        }
        targets = [
            each.endpoint
            for each in system.places
            if each.name in system.topology.entries and each.own_tier not in further
        ]
        login = system.credentials
        plan = plans.drive(
            self._plan, asked, targets, described, addresses, login=login, servers=servers
        )
        return (
            plan
            if load.speed is None
            else plan
            | {
                "users": len(users["visits"]),
                # What pages consist of is in the log.
                "images": False,
            }
        )

    @property
    def start_ns(self) -> int:
        """Since when all of them drive: the phases count from here."""
        started: list[int] = [verb.ready_line["start_ns"] for verb in self.verbs]
        return max(started)

    @property
    def running(self) -> bool:
        """Whether all of them drive."""
        return all(verb.running for verb in self.verbs)

    def note(self) -> str:
        """What they say of the last second, for the progress line."""
        said = [verb.progress for verb in self.verbs if verb.progress]
        if not said:
            return ""
        words = [f"{sum(each.get('requests', 0) for each in said)} requests"]
        if errors := sum(each.get("errors", 0) for each in said):
            words.append(f"{errors} errors")
        if times := [each["p99_ns"] for each in said if each.get("p99_ns") is not None]:
            words.append(f"p99 {max(times) / 1e6:.0f} ms")
        return ", ".join(words)

    def wait(self) -> None:
        """Wait for their end by themselves; `UserError` if one fails or does not end in time."""
        for verb in self.verbs:
            if verb.died:
                raise verb.failure()
        for verb in self.verbs:
            verb.wait(GRACE_S)

    def stop(self) -> None:
        """Ask those that still drive to finish their tables."""
        for verb in self.verbs:
            verb.stop()


def starts(start: int | str, users: int) -> dict[str, Any] | str:
    """The driver's rule for when users start: by a word, or evenly over so many nanoseconds."""
    if isinstance(start, str):
        return start.replace(" ", "_")
    return {"every": {"gap_ns": start // users}}
