"""A domain whose programs are entered into it: a container that itself only waits.

The container runs nothing but a process that waits and reaps (catatonit). Programs enter its
namespaces and its control group from outside, so that their exit status, output and signals are the
laboratory's own, as with bare processes; they are unprivileged before they run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tierlab.environments.containers.root import obstacle
from tierlab.environments.domain import DomainSpec
from tierlab.environments.identity import Identity, identify, is_alive
from tierlab.environments.native.host_domain import CAPABILITIES, Ground, HostDomain
from tierlab.environments.process import Launch
from tierlab.errors import UserError

INIT = ("catatonit", "-P")
NAMESPACES = ("--mount", "--pid", "--ipc", "--uts", "--net")


class EnteredDomain(HostDomain):
    """One container: namespaces, a root of its own over the host's, and a control group.

    A subclass has it made in `_make_group`, which ends with `_keep`.
    """

    given_up = (*HostDomain.given_up, *CAPABILITIES)

    def __init__(self, ground: Ground, spec: DomainSpec) -> None:
        super().__init__(ground, spec)
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

    def _keep(self, pid: int) -> None:
        """Know the process that keeps it; by its start time no later one is taken for it."""
        try:
            self._init = identify(pid)
        except RuntimeError as error:
            raise self._ended() from error

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
        return self._launched(argv, env)

    def _launched(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:
        return replace(super()._launch(argv, env), cwd=None, stays=True)

    def destroy(self) -> None:
        """Remove the container, and folder and control groups with it."""
        try:
            super().destroy()
        finally:
            self._init = None


def shared_memory_size() -> int:
    """What this host has for it, in bytes; 0, for no limit, where that has none."""
    found = os.statvfs("/dev/shm")
    return found.f_blocks * found.f_frsize


def _pid_namespace(pid: int) -> int | None:
    """Which PID namespace a process is in; None if it is gone."""
    try:
        return Path(f"/proc/{pid}/ns/pid").stat().st_ino
    except OSError:
        return None
