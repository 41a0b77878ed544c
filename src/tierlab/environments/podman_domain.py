"""A domain of the podman environment: a container whose programs are entered into it.

The container itself runs nothing but a process that waits and reaps (catatonit). Programs enter its
namespaces and its control group from outside, so that their exit status, output and signals are the
laboratory's own, as with bare processes; they are unprivileged before they run.
"""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tierlab.environments import podman_groups
from tierlab.environments.base import DomainSpec
from tierlab.environments.cgroup import Group, trial_group
from tierlab.environments.host_domain import Ground, HostDomain
from tierlab.environments.launching import run_to_end
from tierlab.environments.ledger import Entry
from tierlab.environments.podman_root import obstacle
from tierlab.environments.podman_storage import Storage, last_words
from tierlab.environments.process import Identity, Launch, identify, is_alive
from tierlab.errors import UserError

INIT = ("catatonit", "-P")
MOST_FILES, MOST_PROCESSES = 20_000, 32_768
"""Limits of the container's own process. podman's defaults are above the hard limits of a root
without CAP_SYS_RESOURCE; lowering is always allowed."""
PODMAN_SECONDS = 60.0
SHARED_MEMORY = Path("/dev/shm")
NAMESPACES = ("--mount", "--pid", "--ipc", "--uts", "--net")


class PodmanDomain(HostDomain):
    """One container: namespaces, a root of its own over the host's, and a control group."""

    given_up = (*HostDomain.given_up, "--bounding-set=-all", "--inh-caps=-all")

    def __init__(self, ground: Ground, spec: DomainSpec, storage: Storage) -> None:
        super().__init__(ground, spec)
        self.container = f"tierlab-{ground.ledger.trial}-{spec.name}"
        self._storage = storage
        self._pid_file = storage.folder / f"{spec.name}.pid"
        self._init: Identity | None = None

    def pids(self) -> list[int]:
        """List the processes in it, but for the one that only keeps it."""
        if self._group is None or self._init is None or not is_alive(self._init):
            return []
        init = self._init.pid
        inside = _pid_namespace(init)
        # Who entered a program into the namespace is in the group too, but waits outside.
        return [
            pid
            for pid in self._group.pids()
            if pid != init and inside is not None and _pid_namespace(pid) == inside
        ]

    def _make_group(self) -> Group:
        ledger, hierarchy = self._ground.ledger, self._ground.hierarchy
        assert hierarchy is not None  # the environment is refused without control groups
        hierarchy.make_trial(ledger)
        what = {"name": self.container, "path": str(self._storage.folder)}
        entry = ledger.add("container", **what)
        identity = self._podman("create", *self._options(), "--rootfs", "/:O", *INIT)
        ledger.amend(entry, id=identity)
        self._group = hierarchy.group(ledger.trial, f"libpod-{identity}")
        with podman_groups.announced(ledger, f"libpod-{identity}"):
            self._podman("start", self.container)
        hierarchy.complete(ledger, self._group)
        self._init = self._find_init()
        return self._group

    def _find_init(self) -> Identity:
        """The process that keeps the container; by its start time no later one is taken for it."""
        try:
            return identify(int(self._pid_file.read_text()))
        except (OSError, ValueError, RuntimeError) as error:
            raise self._ended() from error

    def _options(self) -> list[str]:
        namespace, user = self._ground.namespace, self._ground.user
        assert namespace is not None  # nor without these
        assert user is not None
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
            f"--user={user.pw_uid}:{user.pw_gid}",
            "--cap-drop=all",
            "--security-opt=no-new-privileges",
            # Programs do not run under it, and podman leaves what it loads in the kernel.
            "--security-opt=apparmor=unconfined",
            # What podman would limit by itself, bare processes are free of.
            "--pids-limit=-1",
            f"--shm-size={_size(SHARED_MEMORY)}b",
            f"--ulimit=nofile={files}:{files}",
            f"--ulimit=nproc={processes}:{processes}",
            # The root below the overlay shows all domains' folders.
            f"--tmpfs={self._ground.work}:mode=755,notmpcopyup",
            f"--volume={self.folder}:{self.folder}",
        ]

    def _entry(self) -> Sequence[str]:
        if self._init is None or not is_alive(self._init):
            raise self._ended()
        return ["nsenter", f"--target={self._init.pid}", *NAMESPACES, f"--wdns={self.folder}"]

    def _ended(self) -> UserError:
        return UserError(
            f"{self.spec.name}: its container has ended, as the process that keeps it was killed;"
            " look who killed it (the kernel's log tells of memory that ran out), and run again."
        )

    def _launch(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:
        program = shutil.which(argv[0])
        # The domain's folder is mounted into the container, wherever it lies.
        if program is not None and not Path(program).is_relative_to(self.folder):
            reason = obstacle(Path(program))
            if reason is not None:
                raise UserError(
                    f"{self.spec.name}: '{argv[0]}' cannot be run in a container, because {reason};"
                    " install it on the file system of /, or use environment 'native'."
                )
        return replace(super()._launch(argv, env), cwd=None, stays=True)

    def destroy(self) -> None:
        """Remove the container, and folder and control groups with it."""
        try:
            super().destroy()
        finally:
            self._init = None

    def _is_mine(self, entry: Entry) -> bool:
        return super()._is_mine(entry) or entry.what.get("name") == self.container

    def _podman(self, *arguments: str) -> str:
        """Run podman to its end, listed in the ledger while it runs; what it said."""
        storage, token = self._storage, self._ground.ledger.token
        launch = Launch(storage.argv(*arguments), token, env=storage.environment)
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


def _size(file_system: Path) -> int:
    """In bytes; 0, for no limit, where there is none."""
    found = os.statvfs(file_system)
    return found.f_blocks * found.f_frsize


def _at_most(limit: int, kind: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return limit if hard == resource.RLIM_INFINITY else min(hard, limit)


def _pid_namespace(pid: int) -> int | None:
    """Which PID namespace a process is in; None if it is gone."""
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None
