"""Where a tier's servers are asked to run, and whether an environment has that to give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tierlab import experiment
from tierlab.environments.base import Capability, Placement, Probe, listed, refuse
from tierlab.errors import UserError
from tierlab.machine.mapping import VCpu
from tierlab.servers.mapping import asked_pus, servers

MIB = 1 << 20


def placements(shape: experiment.System) -> Mapping[str, Placement]:
    """What each server is asked to be held to, by its name; UserError for an unknown place.

    A bare process has no vCPUs: it may run on all the PUs that the mapping gives it.
    """
    seated = asked_pus(shape)
    return {name: _placement(tier, seated.get(name)) for name, tier in servers(shape)}


def _placement(tier: experiment.Tier, vcpus: Sequence[VCpu] | None) -> Placement:
    node = tier.mapping.memory_node
    return Placement(
        pus=None if vcpus is None else frozenset().union(*vcpus),
        weight=tier.mapping.weight,
        memory=tier.memory,
        disk_writes=tier.disk.writes,
        disk_reads=tier.disk.reads,
        nodes=None if node is None else frozenset({node}),
    )


def check_placements(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` with the first key that asks for what the environment cannot do."""
    for name, asked in placements(shape).items():
        tier = name.partition(".")[0]
        pin = _pin_key(shape, tier)
        for wanted, value, key in (
            (Capability.PIN, asked.pus, pin),
            (Capability.PIN, asked.nodes, f"system.{tier}.mapping.memory_node"),
            (Capability.WEIGHT, asked.weight, f"system.{tier}.mapping.weight"),
            (Capability.MEMORY, asked.memory, f"system.{tier}.memory"),
            (Capability.DISK, asked.disk_writes, f"system.{tier}.disk.writes"),
            (Capability.DISK, asked.disk_reads, f"system.{tier}.disk.reads"),
        ):
            if value is not None and wanted in probe.cannot:
                raise refuse(key, probe.environment, wanted, probe.cannot[wanted])
        _check_there(pin, "PU", asked.pus, probe.pus)
        _check_there(f"system.{tier}.mapping.memory_node", "NUMA node", asked.nodes, probe.nodes)
        _check_memory(f"system.{tier}.memory", asked.memory, probe)


def _pin_key(shape: experiment.System, tier: str) -> str:
    """The key of the file that says a tier's PUs."""
    if shape.mapping is not None:
        return "system.mapping"
    placed = shape.tiers[tier].mapping.place is not None
    return f"system.{tier}.mapping.{'place' if placed else 'pus'}"


def _check_there(key: str, kind: str, asked: frozenset[int] | None, there: frozenset[int]) -> None:
    missing = (asked or frozenset()) - there
    if missing:
        raise UserError(
            f"{key}: this machine has no {kind} {listed(missing)}; choose among {listed(there)}."
        )


def _check_memory(key: str, asked: int | None, probe: Probe) -> None:
    if asked is not None and asked > probe.memory:
        raise UserError(
            f"{key}: {asked // MIB:,} MiB are more than the {probe.memory // MIB:,} MiB that this"
            " machine has; ask for less."
        )
