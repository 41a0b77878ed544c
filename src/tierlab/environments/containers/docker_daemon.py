"""A Docker daemon of one trial's own, with a containerd of its own and one image: links alone.

See https://docs.docker.com/reference/cli/dockerd/.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tierlab.environments.cgroups.cgroup import trial_group
from tierlab.environments.containers.probe import locate
from tierlab.environments.daemons.own import OwnDaemon
from tierlab.environments.native.host_domain import Ground
from tierlab.machine.programs import SYSTEM_PATH

PROGRAMS: Mapping[str, str] = {
    "dockerd": "docker.io",
    "docker": "docker.io",
    "containerd": "containerd",
    "runc": "runc",
}
"""Each with the Debian package that brings it."""

IMAGE = "tierlab"
SECURITY = Path("/sys/kernel/security")


class DockerDaemon(OwnDaemon):
    """A running dockerd that makes containers on the trial's network and in its control group."""

    program: ClassVar[str] = "dockerd"
    client: ClassVar[str] = "docker"
    shadowed: ClassVar[tuple[str, ...]] = ("/etc/docker",)

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground, "docker")
        self._import_image()

    def docker(self, *arguments: str, subject: str = "system.environment") -> str:
        """Run a command of docker(1) to its end; what it said, or `UserError` about `subject`."""
        argv = [_client(), "--host", f"unix://{self.folder}/run/docker.sock", *arguments]
        # Its user's own settings may name other daemons, and programs to call.
        env = {"PATH": SYSTEM_PATH, "LC_ALL": "C", "DOCKER_CONFIG": str(self.folder / "client")}
        return self.ask(argv, command=arguments[0], subject=subject, env=env).strip()

    def _furnish(self) -> None:
        settings = {
            "data-root": str(self.folder / "data"),
            "exec-root": "/run/docker",
            "pidfile": "/run/docker.pid",
            "hosts": ["unix:///run/docker.sock"],
            "group": "root",
            "exec-opts": ["native.cgroupdriver=cgroupfs"],
            "cgroup-parent": f"/{trial_group(self._ground.ledger.trial)}",
            # One image, in which next to nothing is: the plainest driver does.
            "storage-driver": "vfs",
            "log-driver": "none",
            "bridge": "none",
            "iptables": False,
            "ip-forward": False,
            "ip-masq": False,
        }
        file = Path(f"{self.folder}/etc/docker/daemon.json")
        file.write_text(json.dumps(settings, indent=2))

    def _argv(self) -> Sequence[str]:
        return ["dockerd"]

    def _greet(self) -> None:
        self.docker("version")

    def _hidden(self) -> Sequence[str]:
        """Where it would load an AppArmor profile that stays in the kernel."""
        return [str(SECURITY)] if SECURITY.is_mount() else []

    def _import_image(self) -> None:
        """Docker wants one: the links of this host's root, between which all else is mounted."""
        archive = self.folder / "image.tar"
        with tarfile.open(archive, "w") as tar:
            for path in sorted(Path("/").iterdir()):
                if path.is_symlink():
                    tar.add(path, path.name)
        self.docker("import", str(archive), IMAGE)


def _client() -> str:
    """The one that came with the daemon: another may speak no version that the daemon does."""
    daemon = locate("dockerd")
    assert daemon is not None  # `probe` refuses a machine without
    beside = Path(daemon).parents[1] / "bin" / "docker"
    return str(beside) if beside.exists() else "docker"
