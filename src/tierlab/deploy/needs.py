"""What a system needs of this machine, looked for before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierlab import experiment
from tierlab.deploy.placement import check_placements
from tierlab.environments.capability import Probe
from tierlab.errors import UserError
from tierlab.servers.programs import check_programs


def check_needs(shape: experiment.System, probe: Probe) -> None:
    """Raise `UserError` if a program or what a placement asks for is missing."""
    _check_roots(shape, probe)
    check_programs(
        {
            program: package
            for tier in shape.tiers.values()
            for program, package in tier.software.programs.items()
        }
    )
    _check_files(shape.application.files)
    for tier in shape.tiers.values():
        _check_files(tier.software.files)
        if tier.count > 1:
            _check_files(tier.software.cluster_files)
            check_programs(tier.software.cluster_programs)
    check_placements(shape, probe)


def _check_roots(shape: experiment.System, probe: Probe) -> None:
    """Domains with a root of their own run what is in it, whatever this host has."""
    if probe.packages is None:
        return
    for name, tier in shape.tiers.items():
        packages = {package for package in tier.software.programs.values() if package}
        if not probe.packages.issuperset(packages):
            raise UserError(
                f"system.{name}.server: the image of the {probe.environment} environment has no"
                f" {tier.server}; take another server, or an environment on this host's own root:"
                " native, podman, docker or lxc."
            )


def _check_files(wanted: Mapping[Path, str]) -> None:
    for path, package in wanted.items():
        if not path.exists():
            raise UserError(f"{path} is missing; install it with 'apt-get install {package}'.")
