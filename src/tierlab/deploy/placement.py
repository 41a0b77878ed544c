"""Where a tier's servers are asked to run, and whether an environment has that to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierlab import experiment
from tierlab.deploy.mapping import asked_pus, at_number, servers
from tierlab.environments.capability import Capability, Probe
from tierlab.environments.placement import Placement, listed
from tierlab.environments.refusal import refuse
from tierlab.errors import UserError
from tierlab.experiment.change import Change
from tierlab.machine.hwloc import pus_at

MIB = 1 << 20


def placements(shape: experiment.System, machine: str) -> Mapping[str, Placement]:
    """What each server is asked to be held to on a machine (a source of hwloc's), by its name;
    UserError for an unknown place.

    A bare process has no vCPUs: it may run on all the PUs that the mapping gives it.
    """
    seated = asked_pus(shape, machine)
    return {name: _placement(tier, seated.get(name)) for name, tier in servers(shape)}


def vcpus(shape: experiment.System, machine: str) -> Mapping[str, int | None]:
    """How many vCPUs each server is asked to have, by its name, where it has its own."""
    seated = asked_pus(shape, machine)
    return {
        name: tier.mapping.vcpus or (len(seated[name]) if name in seated else None)
        for name, tier in servers(shape)
    }


def _placement(tier: experiment.Tier, vcpus: Sequence[int] | None) -> Placement:
    node = tier.mapping.memory_node
    return Placement(
        pus=None if vcpus is None else frozenset(vcpus),
        weight=tier.mapping.weight,
        memory=tier.memory,
        disk_writes=tier.disk.writes,
        disk_reads=tier.disk.reads,
        nodes=None if node is None else frozenset({node}),
    )


def changed_placement(change: Change, machine: str) -> Placement:
    """What a change asks of its server on a machine; UserError for an unknown place."""
    return Placement(
        pus=_asked_pus(change, machine),
        weight=change.weight,
        memory=change.memory,
        nodes=None if change.memory_node is None else frozenset({change.memory_node}),
        host=change.host,
    )


def _asked_pus(change: Change, machine: str) -> frozenset[int] | None:
    if change.place is None:
        return None if change.pus is None else frozenset(change.pus)
    return frozenset(pus_at(at_number(change.place, change.on), machine))


def check_placements(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` with the first key that asks for what the environment cannot do."""
    for name, tier_of in shape.tiers.items():
        places = (tier_of.mapping.place, shape.place, shape.mapping)
        counted = any(place is not None for place in places)
        if tier_of.mapping.vcpus and not counted and Capability.VCPUS in probe.cannot:
            raise UserError(
                f"system.{name}.mapping.vcpus: a server of the {probe.environment} environment has"
                " no vCPUs of its own; say in `place` whose PUs are counted."
            )
    for name, asked in placements(shape, probe.machine).items():
        tier = name.partition(".")[0]
        table = f"system.{tier}"
        _check(
            asked,
            probe,
            {
                "pus": _pin_key(shape, tier),
                "nodes": f"{table}.mapping.memory_node",
                "weight": f"{table}.mapping.weight",
                "memory": f"{table}.memory",
                "disk_writes": f"{table}.disk.writes",
                "disk_reads": f"{table}.disk.reads",
            },
        )


def check_changes(changes: Sequence[Change], probe: Probe) -> None:
    """Raise `UserError` with the first change that the environment cannot make."""
    for change in changes:
        asked = changed_placement(change, probe.machine)
        pin = "place" if change.place is not None else "pus"
        own = {"pus": pin, "nodes": "memory_node"}
        own |= {name: name for name in ("weight", "memory", "host")}
        at = f"change of {change.on}"
        if change.soft and (reason := probe.cannot.get(Capability.PROCESSES)):
            raise refuse(f"{at}: soft", probe.environment, Capability.PROCESSES, reason)
        if asked.nodes and (reason := probe.cannot.get(Capability.MOVE_MEMORY)):
            raise refuse(f"{at}: memory_node", probe.environment, Capability.MOVE_MEMORY, reason)
        _check(asked, probe, {name: f"{at}: {key}" for name, key in own.items()})


NEEDED: Mapping[str, Capability] = {
    "pus": Capability.PIN,
    "nodes": Capability.PIN,
    "weight": Capability.WEIGHT,
    "memory": Capability.MEMORY,
    "disk_writes": Capability.DISK,
    "disk_reads": Capability.DISK,
    "host": Capability.MIGRATE,
}
"""What each part of a placement wants of the environment."""


def _check(asked: Placement, probe: Probe, keys: Mapping[str, str]) -> None:
    """`keys` name the parts of the placement as the file does."""
    for name, key in keys.items():
        wanted = NEEDED[name]
        if getattr(asked, name) is not None and wanted in probe.cannot:
            raise refuse(key, probe.environment, wanted, probe.cannot[wanted])
    _check_there(keys["pus"], "PU", asked.pus, probe.pus)
    _check_there(keys["nodes"], "NUMA node", asked.nodes, probe.nodes)
    _check_memory(keys["memory"], asked.memory, probe)


def _pin_key(shape: experiment.System, tier: str) -> str:
    """The key of the file that says a tier's PUs."""
    if shape.mapping is not None:
        return "system.mapping"
    own = shape.tiers[tier].mapping
    if own.pus is None and own.place is None:
        return "system.place"
    return f"system.{tier}.mapping.{'pus' if own.place is None else 'place'}"


def _check_there(key: str, kind: str, asked: frozenset[int] | None, there: frozenset[int]) -> None:
    missing = (asked or frozenset()) - there
    if missing:
        raise UserError(
            f"{key}: this machine has no {kind} {listed(missing)}; choose among {listed(there)}."
        )


def _check_memory(key: str, asked: int | None, probe: Probe) -> None:
    if asked is None:
        return
    if asked > probe.memory:
        raise UserError(
            f"{key}: {asked // MIB:,} MiB are more than the {probe.memory // MIB:,} MiB that this"
            " machine has; ask for less."
        )
    # With virtual CPUs of its own a domain is a guest, whose memory is no limit but made for it.
    if asked % MIB and Capability.VCPUS in probe.can:
        raise UserError(
            f"{key}: {asked:,} bytes are no whole MiB, and a server of the {probe.environment}"
            f' environment has its memory in such; say "{asked // MIB}MiB".'
        )
