"""A domain of the podman environment: a container made by podman and runc."""

from __future__ import annotations

import resource

from tierlab.environments.cgroups.cgroup import Group, trial_group
from tierlab.environments.containers.entered_domain import INIT, EnteredDomain, shared_memory_size
from tierlab.environments.containers.podman_storage import Storage
from tierlab.environments.containers.runc import announced
from tierlab.environments.domain import DomainSpec
from tierlab.environments.launching import last_words, run_to_end
from tierlab.environments.ledger import Entry
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.process import Launch
from tierlab.errors import UserError

MOST_FILES, MOST_PROCESSES = 20_000, 32_768
"""Limits of the container's own process. podman's defaults are above the hard limits of a root
without CAP_SYS_RESOURCE; lowering is always allowed."""
PODMAN_SECONDS = 60.0


class PodmanDomain(EnteredDomain):
    """One container: namespaces, a root of its own over the host's, and a control group."""

    def __init__(self, ground: Ground, spec: DomainSpec, storage: Storage) -> None:
        super().__init__(ground, spec)
        self.container = f"tierlab-{ground.ledger.trial}-{spec.name}"
        self._storage = storage
        self._pid_file = storage.folder / f"{spec.name}.pid"

    def _make_group(self) -> Group:
        ledger, hierarchy = self._ground.ledger, self._ground.hierarchy
        assert hierarchy is not None  # the environment is refused without control groups
        hierarchy.make_trial(ledger)
        what = {"name": self.container, "path": str(self._storage.folder)}
        entry = ledger.add("container", **what)
        identity = self._podman("create", *self._options(), *self._rooted())
        ledger.amend(entry, id=identity)
        self._group = hierarchy.group(ledger.trial, f"libpod-{identity}")
        with announced(ledger, f"libpod-{identity}"):
            self._podman("start", self.container)
        hierarchy.complete(ledger, self._group)
        self._keep(self._read_pid())
        return self._group

    def _read_pid(self) -> int:
        try:
            return int(self._pid_file.read_text())
        except (OSError, ValueError) as error:
            raise self._ended() from error

    def _rooted(self) -> list[str]:
        """The container's root, and what runs in it."""
        return ["--rootfs", "/:O", *INIT]

    def _options(self) -> list[str]:
        user = self._ground.user
        assert user is not None  # nor without these
        return [
            *self._common_options(),
            f"--user={user.pw_uid}:{user.pw_gid}",
            # The root below the overlay shows all domains' folders.
            f"--tmpfs={self._ground.work}:mode=755,notmpcopyup",
            f"--volume={self.folder}:{self.folder}",
        ]

    def _common_options(self) -> list[str]:
        namespace = self._ground.namespace
        assert namespace is not None
        files = _at_most(MOST_FILES, resource.RLIMIT_NOFILE)
        processes = _at_most(MOST_PROCESSES, resource.RLIMIT_NPROC)
        return [
            f"--name={self.container}",
            f"--network=ns:{namespace.path}",
            f"--cgroup-parent=/{trial_group(self._ground.ledger.trial)}",
            "--cgroups=no-conmon",
            f"--pidfile={self._pid_file}",
            "--uts=private",
            "--ipc=private",
            f"--hostname={self.spec.name}",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
            # Programs do not run under it, and podman leaves what it loads in the kernel.
            "--security-opt=apparmor=unconfined",
            # What podman would limit by itself, bare processes are free of.
            "--pids-limit=-1",
            f"--shm-size={shared_memory_size()}b",
            f"--ulimit=nofile={files}:{files}",
            f"--ulimit=nproc={processes}:{processes}",
        ]

    def _is_mine(self, entry: Entry) -> bool:
        return super()._is_mine(entry) or entry.what.get("name") == self.container

    def _podman(self, *arguments: str) -> str:
        """Run podman to its end, listed in the ledger while it runs; what it said."""
        storage, token = self._storage, self._ground.ledger.token
        # Its monitor writes into the working directory when a limit of memory is met.
        launch = Launch(
            storage.argv(*arguments), token, env=storage.environment, cwd=storage.folder
        )
        done = run_to_end(self._ground.ledger, launch, PODMAN_SECONDS)
        if done is None:
            raise self._failure(arguments[0], f"no end within {PODMAN_SECONDS:g} seconds")
        if done.status != 0:
            raise self._failure(arguments[0], last_words(done.stderr))
        return done.stdout.strip()

    def _failure(self, command: str, reason: str) -> UserError:
        return UserError(
            f"{self.spec.name}: 'podman {command}' failed: {reason};"
            " 'tierlab doctor' says what this machine lacks."
        )


def _at_most(limit: int, kind: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return limit if hard == resource.RLIM_INFINITY else min(hard, limit)
