"""A domain of the Docker environment: a container made by Docker and runc."""

from __future__ import annotations

from pathlib import Path

from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.containers.docker_daemon import IMAGE, DockerDaemon
from tierlab.environments.containers.entered_domain import INIT, EnteredDomain, shared_memory_size
from tierlab.environments.containers.overlay_root import OverlayRoot
from tierlab.environments.containers.probe import locate
from tierlab.environments.containers.runc import announced
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.host_domain import Ground

KERNELS = frozenset({"dev", "proc", "sys"})
"""Folders of the root that every container has of its own."""


class DockerDomain(EnteredDomain):
    """One container: namespaces, a root of its own over the host's, and a control group."""

    def __init__(self, ground: Ground, spec: DomainSpec, daemon: DockerDaemon) -> None:
        super().__init__(ground, spec)
        self._daemon = daemon
        self._root = OverlayRoot(daemon, spec.name)

    def _make_group(self) -> Group:
        ledger, hierarchy = self._ground.ledger, self._ground.hierarchy
        assert hierarchy is not None  # the environment is refused without control groups
        self._root.mount()
        init, argument = INIT
        command = (locate(init) or init, argument)
        identity = self._docker("create", *self._options(), IMAGE, *command)
        self._group = hierarchy.group(ledger.trial, identity)
        with announced(ledger, identity):
            self._docker("start", self.spec.name)
        hierarchy.complete(ledger, self._group)
        pid = int(self._docker("inspect", "--format={{.State.Pid}}", self.spec.name))
        if pid == 0:
            raise self._ended()
        self._keep(pid)
        return self._group

    def _options(self) -> list[str]:
        user = self._ground.user
        assert user is not None  # nor without an account for the servers
        return [
            f"--name={self.spec.name}",
            # The daemon's, which is the trial's.
            "--network=host",
            f"--hostname={self.spec.name}",
            "--ipc=private",
            f"--user={user.pw_uid}:{user.pw_gid}",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
            "--security-opt=apparmor=unconfined",
            # The daemon's end is the container's, with nothing to wait for.
            "--stop-signal=KILL",
            *(f"--volume={self._root.merged}{path}:{path}" for path in _folders()),
            # Not by --shm-size, which has no word for "no limit".
            f"--tmpfs=/dev/shm:size={shared_memory_size()},mode=1777",
            # The root below the overlay shows all domains' folders.
            f"--tmpfs={self._ground.work}:mode=755",
            f"--volume={self.folder}:{self.folder}",
        ]

    def destroy(self) -> None:
        """Remove the container, and folder and control groups with it."""
        self.stop()
        if self._group is not None:
            self._docker("rm", "--force", self.spec.name)
            self._root.remove()
        super().destroy()

    def _docker(self, *arguments: str) -> str:
        return self._daemon.docker(*arguments, subject=self.spec.name)


def _folders() -> list[Path]:
    """What is mounted one by one: Docker mounts nothing as the root itself."""
    return [
        path
        for path in sorted(Path("/").iterdir())
        if path.is_dir() and not path.is_symlink() and path.name not in KERNELS
    ]
