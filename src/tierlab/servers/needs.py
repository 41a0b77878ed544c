"""What a system needs of this machine, looked for before anything is made."""

from __future__ import annotations

from tierlab import experiment
from tierlab.environments.capability import Probe
from tierlab.servers.kinds import KINDS
from tierlab.servers.mariadb import check_galera
from tierlab.servers.placement import check_placements
from tierlab.servers.programs import check_programs


def check_needs(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` if a program or what a placement asks for is missing."""
    check_programs(
        {
            program: package
            for tier in shape.tiers.values()
            for program, package in KINDS[tier.server].programs.items()
        }
    )
    if shape.db.count > 1:
        check_galera()
    check_placements(shape, probe)
