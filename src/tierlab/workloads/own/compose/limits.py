"""What a service says of its resources and its number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.keys import REFUSED
from tierlab.workloads.own.compose.sizes import size_of

LIMITS = ("deploy", "mem_limit", "scale")
"""Keys of a service that say its resources and its number."""
JOBS = ("replicated-job", "global-job")
OF_DEPLOY = {"replicas", "resources", "mode"}
OF_LIMITS = {"cpus", "memory"}


def look_at_limits(
    key: str, tier: str, said: Mapping[str, Any], given: Mapping[str, Any], findings: Findings
) -> dict[str, Any]:
    """Return what of it a server's table has, by the table's keys. `given`: what the experiment
    file says of the server.
    """
    made: dict[str, Any] = {}
    deploy = said.get("deploy") or {}
    resources = deploy.get("resources") or {}
    limits = resources.get("limits") or {}
    if limits.get("cpus") and "mapping" not in given:
        findings.wrong(f"{key}.deploy.resources.limits.cpus", REFUSED["cpus"].format(tier=tier))
    _look_at_deploy(key, deploy, findings)
    count = _one_of(key, ("deploy.replicas", deploy.get("replicas")), ("scale", said), findings)
    if count is not None:
        made["count"] = int(count) if str(count).isdigit() else count
    memory = _one_of(
        key, ("deploy.resources.limits.memory", limits.get("memory")), ("mem_limit", said), findings
    )
    if memory is not None:
        size = size_of(memory)
        if size is None:
            findings.wrong(
                key,
                f"has the limit of memory {memory!r}, which is no size; write it as 512m or 1.5g",
            )
        elif size:
            made["memory"] = f"{size >> 10}KiB"
    return made


def _one_of(
    key: str, first: tuple[str, Any], second: tuple[str, Mapping[str, Any]], findings: Findings
) -> Any:
    """Return what is said at two places, of which Docker takes no two different values."""
    name, value = first
    other = second[1].get(second[0])
    if value is None or other is None:
        return other if value is None else value
    if str(value) != str(other) and (size_of(value) is None or size_of(value) != size_of(other)):
        findings.wrong(f"{key}.{second[0]}", f"is {other}, and {name} is {value}; keep one")
    return value


def _look_at_deploy(key: str, deploy: Mapping[str, Any], findings: Findings) -> None:
    mode = deploy.get("mode")
    if mode in JOBS:
        findings.wrong(
            f"{key}.deploy.mode",
            f'is "{mode}": it ends, and a server does not; leave it out: system.services lists'
            " those that are servers",
        )
    resources = deploy.get("resources") or {}
    limits = resources.get("limits") or {}
    reservations = resources.get("reservations") or {}
    if isinstance(reservations, dict) and reservations.get("devices"):
        findings.wrong(f"{key}.deploy.resources.reservations.devices", REFUSED["devices"])
    idle = [each for each in deploy if each not in OF_DEPLOY and not each.startswith("x-")]
    idle += ["mode"] if mode == "global" else []
    idle += [f"resources.{each}" for each in resources if each != "limits"]
    idle += [f"resources.limits.{each}" for each in limits if each not in OF_LIMITS]
    if idle:
        findings.note(f"{key}.deploy: without effect in a trial: {', '.join(idle)}")
