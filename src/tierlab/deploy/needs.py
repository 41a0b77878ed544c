"""What a system needs of this machine, looked for before anything is made."""

from __future__ import annotations

from tierlab import experiment
from tierlab.deploy.placement import check_placements
from tierlab.environments.capability import Probe
from tierlab.errors import UserError
from tierlab.servers.base import Server
from tierlab.servers.programs import check_programs


def check_needs(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` if a program or what a placement asks for is missing."""
    check_programs(
        {
            program: package
            for tier in shape.tiers.values()
            for program, package in tier.software.programs.items()
        }
    )
    for tier in shape.tiers.values():
        if tier.count > 1:
            _check_cluster(tier.software)
    check_placements(shape, probe)


def _check_cluster(software: type[Server]) -> None:
    for path, package in software.cluster_files.items():
        if not path.exists():
            raise UserError(f"{path} is missing; install it with 'apt-get install {package}'.")
    check_programs(software.cluster_programs)
