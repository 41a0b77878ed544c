"""A domain of the podman environment whose root is an OCI image's.

Its container is podman's, with the image's environment, user, working folder and volumes; what it
runs itself only waits. The image's programs enter it as this host's own do in other domains.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from tierlab.environments import contents
from tierlab.environments.cgroups.cgroup import Group
from tierlab.environments.containers import entrance
from tierlab.environments.containers.entered_domain import NAMESPACES
from tierlab.environments.containers.podman_domain import PodmanDomain
from tierlab.environments.containers.podman_storage import Storage
from tierlab.environments.domain import DomainSpec
from tierlab.environments.files import copy_tree, make_folder
from tierlab.environments.image_root import ImageRoot, Volume
from tierlab.environments.ledger import Entry
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.network import own_loopback
from tierlab.environments.process import Launch, Process
from tierlab.errors import UserError

CAPABILITIES = (
    *("chown", "dac_override", "fowner", "fsetid", "kill", "net_bind_service"),
    *("setfcap", "setgid", "setpcap", "setuid", "sys_chroot"),
)
"""podman's default: what a program that runs as root in a container may do."""
NOT_HANDED_ON = ("TERM", "HOSTNAME", "container")
"""What podman puts into the environment of a container with a terminal to it, or by itself."""


class ImageDomain(PodmanDomain):
    """One container of an image."""

    def __init__(self, ground: Ground, spec: DomainSpec, storage: Storage, root: ImageRoot) -> None:
        super().__init__(ground, spec, storage)
        self._root = root
        self._environ: Mapping[str, str] = {}
        self._rights: Sequence[str] = ()
        self._working = "/"

    def _make_group(self) -> Group:
        group = super()._make_group()
        assert self._init is not None  # `_keep` comes last
        proc = Path(f"/proc/{self._init.pid}")
        try:
            self._environ = {**_environ(proc), **self._environ}
            self._rights = _rights(proc)
            self._working = str((proc / "cwd").readlink())
        except OSError as error:
            raise self._ended() from error
        unified = group.sampled().get("unified")
        if self._root.own_loopback and unified is not None and self.spec.address is not None:
            try:
                own_loopback.give(unified, self.spec.address)
            except OSError as error:
                raise UserError(
                    f"{self.spec.name}: another server listens on the same port, and the kernel"
                    f" lets nobody give each an address of its own ({error.strerror}); have one"
                    " listen on another port."
                ) from error
        return group

    def _options(self) -> list[str]:
        root = self._root
        return [
            *self._common_options(),
            "--no-healthcheck",
            *(f"--add-host={name}:{address}" for name, address in self.spec.hosts),
            "--image-volume=bind",
            f"--volume={self._storage.entrance}:{entrance.INSIDE}:ro",
            *([] if root.user is None else [f"--user={root.user}"]),
            *([] if root.folder is None else [f"--workdir={root.folder}"]),
            *(self._mounted(at, each) for at, each in enumerate(root.volumes)),
            f"--entrypoint={json.dumps([f'{entrance.INSIDE}/{entrance.INIT}', '-P'])}",
        ]

    def _rooted(self) -> list[str]:
        return [self._root.image]

    def _mounted(self, at: int, volume: Volume) -> str:
        if not volume.source:
            return f"--tmpfs={volume.target}"
        if volume.is_named:
            return f"--volume={volume.source}:{volume.target}"
        if (content := contents.known(volume.source)) is not None:
            source = contents.write(content, self._content_folder(content) / str(at))
            return f"--volume={source}:{volume.target}:ro"
        source = Path(volume.source)
        if volume.mode != "kept":
            return f"--volume={source}:{volume.target}:{volume.mode}"
        if source.is_dir():
            # An overlay: what is written is the container's, and goes with it.
            return f"--volume={source}:{volume.target}:O"
        copy = self.folder / "volumes" / str(at)
        copy.parent.mkdir(exist_ok=True)
        copy_tree(source, copy)
        return f"--volume={copy}:{volume.target}"

    def _content_folder(self, content: contents.FileContent) -> Path:
        if not content.is_secret:
            folder = self.folder / "volumes"
            folder.mkdir(exist_ok=True)
        else:
            folder = self._secrets
            if not folder.exists():
                make_folder(self._ground.ledger, folder, mode=0o700)
        return folder

    @property
    def _secrets(self) -> Path:
        trial = self._ground.ledger.trial
        return contents.memory_folder() / f"tierlab-{trial}-{self.spec.name}"

    def _is_mine(self, entry: Entry) -> bool:
        return super()._is_mine(entry) or entry.what.get("path") == str(self._secrets)

    def _seen_from_here(self, path: str) -> str:
        if path.startswith("@"):
            return path
        if self._init is None:
            raise self._ended()
        return f"/proc/{self._init.pid}/root{path}"

    def _entry(self) -> Sequence[str]:
        prefix = super()._entry()
        assert self._init is not None
        return [
            shutil.which(prefix[0]) or prefix[0],
            f"--target={self._init.pid}",
            *NAMESPACES,
            f"--wdns={self._working}",
        ]

    def _unprivileged(self) -> list[str]:
        return [*entrance.setpriv(), *self._rights, "--"]

    def _launch(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:
        return self._launched(argv, {**self._environ, **(env or {})})

    def spawn(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start its program; what is run beside it later has the same variables."""
        self._environ = {**self._environ, **(env or {})}
        return super().spawn(argv, log=log, env=env)


def _environ(proc: Path) -> dict[str, str]:
    """What podman gave the container: of the image, and HOME."""
    given = (proc / "environ").read_text(errors="surrogateescape").split("\0")
    pairs = (each.partition("=") for each in given if each)
    return {name: value for name, _, value in pairs if name not in NOT_HANDED_ON}


def _rights(proc: Path) -> list[str]:
    """Options of setpriv(1) by which a program is who the container is run as."""
    status = dict(
        line.split(":", 1) for line in (proc / "status").read_text().splitlines() if ":" in line
    )
    user, group = status["Uid"].split()[0], status["Gid"].split()[0]
    groups = status.get("Groups", "").split()
    bounding = ",".join(("-all", *(f"+{name}" for name in CAPABILITIES)))
    return [
        *(f"--reuid={user}", f"--regid={group}"),
        f"--groups={','.join(groups)}" if groups else "--clear-groups",
        *("--no-new-privs", f"--bounding-set={bounding}", "--inh-caps=-all"),
    ]
