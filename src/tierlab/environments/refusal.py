"""How it is said that an environment cannot do what was asked."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.environments.capability import Capability
from tierlab.errors import UserError

_DOING: Mapping[Capability, str] = {
    Capability.NETWORK: "give a trial a network of its own",
    Capability.ACCOUNTING: "account for what a server uses",
    Capability.PIN: "place servers on PUs",
    Capability.WEIGHT: "weight the CPU",
    Capability.MEMORY: "limit memory",
    Capability.DISK: "limit the use of the disk",
    Capability.MIGRATE: "move a server to another host",
    Capability.UNPRIVILEGED: "run servers without rights",
    Capability.RETRIES: "say when TCP repeats a connection request",
    Capability.PROCESSES: "reach into a server's domain from outside",
    Capability.MOVE_MEMORY: "move a running server's memory to another node",
    Capability.VCPUS: "give a server virtual CPUs of its own",
    Capability.NEIGHBOURS: "put neighbours beside servers",
    Capability.STEAL: "have a hypervisor take CPU time from servers",
    Capability.SIMULATED_CACHES: "simulate caches",
    Capability.MESSAGES: "see the messages between servers",
}


def refuse(key: str, environment: str, wanted: Capability, reason: str) -> UserError:
    """Word the refusal of what `key` (or a subject) wants and the environment cannot do."""
    return UserError(
        f"{key}: the {environment} environment cannot {_DOING[wanted]} here, because {reason};"
        " do without it, or see in 'tierlab doctor' what this machine lacks."
    )
