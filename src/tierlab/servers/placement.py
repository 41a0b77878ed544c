"""Where a tier's servers are asked to run, and whether an environment has that to give."""

from __future__ import annotations

from tierlab import experiment
from tierlab.environments.base import Capability, Placement, Probe, listed, refuse
from tierlab.errors import UserError

MIB = 1 << 20


def placement(tier: experiment.Tier) -> Placement:
    """What each of the tier's servers is asked to be held to."""
    mapping = tier.mapping
    return Placement(
        pus=None if mapping.pus is None else frozenset(mapping.pus),
        weight=mapping.weight,
        memory=tier.memory,
        disk_writes=tier.disk.writes,
        disk_reads=tier.disk.reads,
    )


def check_placements(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` with the first key that asks for what the environment cannot do."""
    for name, tier in shape.tiers.items():
        asked = placement(tier)
        for wanted, value, key in (
            (Capability.PIN, asked.pus, "mapping.pus"),
            (Capability.WEIGHT, asked.weight, "mapping.weight"),
            (Capability.MEMORY, asked.memory, "memory"),
            (Capability.DISK, asked.disk_writes, "disk.writes"),
            (Capability.DISK, asked.disk_reads, "disk.reads"),
        ):
            if value is not None and wanted in probe.cannot:
                at = f"system.{name}.{key}"
                raise refuse(at, probe.environment, wanted, probe.cannot[wanted])
        _check_pus(f"system.{name}.mapping.pus", asked.pus, probe)
        _check_memory(f"system.{name}.memory", asked.memory, probe)


def _check_pus(key: str, asked: frozenset[int] | None, probe: Probe) -> None:
    missing = (asked or frozenset()) - probe.pus
    if missing:
        raise UserError(
            f"{key}: this machine has no PU {listed(missing)}; choose among {listed(probe.pus)}."
        )


def _check_memory(key: str, asked: int | None, probe: Probe) -> None:
    if asked is not None and asked > probe.memory:
        raise UserError(
            f"{key}: {asked // MIB:,} MiB are more than the {probe.memory // MIB:,} MiB that this"
            " machine has; ask for less."
        )
