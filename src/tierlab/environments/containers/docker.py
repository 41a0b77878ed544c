"""The Docker environment: each server in an OCI container, made by a Docker daemon of the trial's.

As with podman the containers' root is this host's, seen through an overlay: a difference between
the environments is not another build's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tierlab.environments.capability import Probe
from tierlab.environments.containers import docker_daemon
from tierlab.environments.containers.docker_daemon import DockerDaemon
from tierlab.environments.containers.docker_domain import DockerDomain
from tierlab.environments.containers.probe import probe_containers
from tierlab.environments.containers.runc import runtime_fault
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host import HostEnvironment
from tierlab.environments.native.host_domain import Ground

PROGRAMS: Mapping[str, str] = {
    **docker_daemon.PROGRAMS,
    "catatonit": "catatonit",
}
"""Each with the Debian package that brings it."""


class Docker(HostEnvironment):
    """Containers on this host, for one trial, made by a Docker daemon of its own."""

    name: ClassVar[str] = "docker"

    @classmethod
    def probe(cls) -> Probe:
        """Look at rights, programs and control groups; `UserError` if no container can be made."""
        return probe_containers(cls.name, PROGRAMS, runtime_fault)

    def create(self, spec: DomainSpec) -> DockerDomain:
        """Make a domain: a folder now, a container when it starts."""
        return DockerDomain(self._ground, spec, self._daemon)

    def _prepare(self, sysctls: Mapping[str, int]) -> Ground:
        ground = super()._prepare(sysctls)
        self._daemon = DockerDaemon(ground)
        return ground
