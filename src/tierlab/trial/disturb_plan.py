"""The plan of the disturbing agent: who is where by now, and the true times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tierlab.deploy.system import Subject
from tierlab.environments.addresses import Addresses
from tierlab.experiment import System
from tierlab.experiment.disturb_clients import Burst, SlowClients
from tierlab.experiment.disturb_resources import Memory, Weight
from tierlab.experiment.disturb_servers import Checkpoint, ColdCache, Lock, Pool, Restart
from tierlab.experiment.disturbance import Disturbance
from tierlab.experiment.draw import Drawn
from tierlab.servers.kinds import KINDS
from tierlab.servers.own_options import host_of

ALTERED: Mapping[type[Disturbance], str] = {Memory: "memory", Weight: "weight"}
"""Classes that alter a part of their server's `Placement`. A quota is no part of one."""


def altered_by(drawn: Sequence[Drawn]) -> Mapping[str, frozenset[str]]:
    """By server, what of its placement is another while something happens to it."""
    found: dict[str, frozenset[str]] = {}
    for what in (each.what for each in drawn):
        if (part := ALTERED.get(type(what))) is not None:
            found[what.on] = found.get(what.on, frozenset()) | {part}
    return found


def disturb(
    drawn: Sequence[Drawn],
    runtime_ns: int,
    subjects: Sequence[Subject],
    shape: System,
    addresses: Addresses,
) -> dict[str, Any]:
    """Disturb `subjects`, as the agent does; `runtime_ns` is when the runtime starts (UTC)."""
    by_name = {subject.name: subject for subject in subjects}
    return {
        "disturbances": [
            {
                "id": each.id,
                "class": each.what.class_,
                "subject": each.what.on,
                "start_ns": runtime_ns + each.at_ns,
                "duration_ns": each.what.duration_ns,
                **_target(by_name[each.what.on]),
                **_intensity(each.what, by_name[each.what.on], shape, addresses),
            }
            for each in drawn
            if not each.what.by_hypervisor
        ]
    }


def _target(subject: Subject) -> dict[str, Any]:
    pus, socket = subject.found.pus, KINDS[subject.place.server].socket
    return {
        "cgroups": {name: str(path) for name, path in subject.cgroups.items()},
        "pids": list(subject.pids),
        "pus": None if pus is None else sorted(pus),
        "address": subject.endpoint.address,
        "port": subject.endpoint.port,
        "protocol": subject.endpoint.protocol,
        "socket": None if socket is None else str(subject.folder / socket),
        "folder": str(subject.folder),
    }


def _intensity(
    what: Disturbance, subject: Subject, shape: System, addresses: Addresses
) -> dict[str, Any]:
    """The class's own keys, with what the agent needs to know of the system."""
    keys = what.intensity
    if isinstance(what, Lock | Checkpoint | ColdCache):
        return keys | asdict(subject.login)
    if isinstance(what, Burst):
        paths = {"paths": shape.application.entry_paths}
        return keys | paths | _from_outside(what, shape, addresses)
    if isinstance(what, SlowClients):
        path = {"path": shape.application.entry_paths[-1]}
        return keys | path | _from_outside(what, shape, addresses)
    if isinstance(what, Restart):
        tier = shape.tiers[what.on.partition(".")[0]]
        return keys | {"signal": int(tier.software.restart_signal or 0)}
    if isinstance(what, Pool):
        return _pool(what, subject, shape)
    return keys


def _from_outside(what: Disturbance, shape: System, addresses: Addresses) -> dict[str, str]:
    """Where users come from, and by what name they call the server, if the file says one."""
    host = host_of(shape.tiers[what.on.partition(".")[0]].settings.options)
    named = {} if host is None else {"host": host}
    return {"sources": str(addresses.crowd.network_address)} | named


def _pool(what: Pool, subject: Subject, shape: System) -> dict[str, Any]:
    tier = shape.tiers[what.on.partition(".")[0]]
    held = str(what.resource)
    keys = {"resource": held, "hold": what.hold or tier.soft[held]}
    if held == "threads":
        whole = tier.software.waits_without_worker
        return keys | {"path": shape.application.form_path, "whole_head": whole}
    if held == "max_connections":
        return keys | {"user": subject.login.user, "database": subject.login.database}
    return keys
