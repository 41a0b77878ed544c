"""A domain with a kernel of its own, whose programs and files are the guest's.

Programs are started by the agent in the guest. The domain's folder is this host's, shared with the
guest at the same path; what has to be fast, or to move with the guest, lies on a disk of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

from tierlab.environments.domain import Completed, DomainSpec, Inside
from tierlab.environments.guests import process as guest_process
from tierlab.environments.guests.agent import AgentSilentError, GuestAgent
from tierlab.environments.guests.disk import STAGE, DiskFolders
from tierlab.environments.guests.process import COMMAND_SECONDS, GROUPS, GuestProcess
from tierlab.environments.native.host_domain import CAPABILITIES, Ground, HostDomain
from tierlab.environments.placement import listed
from tierlab.environments.process import Process
from tierlab.environments.removal import GRACE
from tierlab.errors import UserError

USUAL_MEMORY = 1 << 30
"""Bytes of a guest for which none are asked."""
COPY_SECONDS = 600.0


class GuestDomain(HostDomain):
    """What is the same for every guest, whoever keeps it; `_agent` is there once it has started."""

    given_up = (*HostDomain.given_up, *CAPABILITIES)

    def __init__(self, ground: Ground, spec: DomainSpec) -> None:
        super().__init__(ground, spec)
        self._agent: GuestAgent | None = None
        self._disk = DiskFolders(self.folder, spec.disk, self._as_root)
        self._numbers = itertools.count(1)

    def _entry(self) -> Sequence[str]:
        """Nothing on this host is entered."""
        return []

    def inside(self) -> Inside:
        """The way in, as root of the guest."""
        return _Inside(self)

    def stop(self) -> None:
        """End every program in the guest; the guest itself stays."""
        for process in self._processes:
            process.stop(GRACE)
        self._processes.clear()

    def destroy(self) -> None:
        """Remove guest, folder and all that `start` made; its programs end with it."""
        self._processes.clear()
        try:
            super().destroy()
        finally:
            if self._agent is not None:
                self._agent.close()
            self._agent = None

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command to its end, as the servers' user."""
        process = self.start_program([*self._unprivileged(), *argv])
        status = process.wait(timeout)
        process.stop(0.0)
        if status is None:
            raise UserError(
                f"{self.spec.name}: '{argv[0]}' did not end within {timeout:g} seconds."
            )
        return Completed(status, *process.output)

    def spawn(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a server's program in the guest."""
        return self.start_program([*self._unprivileged(), *argv], log=log, env=env)

    def start_program(
        self, argv: Sequence[str], *, log: str | None = None, env: Mapping[str, str] | None = None
    ) -> GuestProcess:
        """Start a program as root, in the domain's folder; without a log, its words are kept."""
        if log is not None:
            self.make_folder(str(Path(log).parent))
            if not self._disk.hold(log):
                (self.folder / log).touch()
        try:
            process = guest_process.start(
                self._agent_here(),
                argv,
                group=str(next(self._numbers)),
                folder=str(self.folder),
                log="" if log is None else str(self.folder / log),
                env=env,
            )
        except AgentSilentError as error:
            raise UserError(
                f"{self.spec.name}: its guest cannot be told to start '{argv[0]}': {error}."
            ) from error
        if log is not None:
            self._processes.append(process)
        return process

    def put(self, source: Path, name: str) -> Path:
        """Copy a file or a tree into the folder, or onto the guest's disk."""
        if not self._disk.hold(name):
            return super().put(source, name)
        return self._disk.bring_in(super().put(source, f"{STAGE}/{Path(name).name}"), name)

    def write(self, name: str, text: str) -> Path:
        """Write a text file."""
        if not self._disk.hold(name):
            return super().write(name, text)
        return self._disk.bring_in(super().write(f"{STAGE}/{Path(name).name}", text), name)

    def make_folder(self, name: str) -> Path:
        """Make a folder in the folder."""
        if not self._disk.hold(name):
            return super().make_folder(name)
        path, user = self.folder / name, self._ground.user
        assert user is not None  # `probe` refuses a machine without setpriv
        owner = ["--owner", str(user.pw_uid), "--group", str(user.pw_gid)]
        self._as_root(["install", "-d", *owner, str(path)])
        return path

    def get(self, name: str, target: Path) -> None:
        """Copy a file or a tree out of the folder, or off the guest's disk."""
        if not self._disk.hold(name):
            super().get(name, target)
            return
        with self._disk.brought_out(name) as copy:
            super().get(str(copy.relative_to(self.folder)), target)

    def text(self, name: str) -> str | None:
        """Read a text file, in the guest if it is on its disk."""
        if not self._disk.hold(name):
            return super().text(name)
        done = self._said("/bin/cat", name)
        return done.stdout if done is not None and done.status == 0 else None

    def has(self, name: str) -> bool:
        """Look, in the guest if it is on its disk."""
        if not self._disk.hold(name):
            return super().has(name)
        done = self._said("/bin/ls", name)
        return done is not None and done.status == 0

    def _said(self, program: str, name: str) -> Completed | None:
        """What a small program says of a file; None if the guest does not answer."""
        try:
            return self._agent_here().run([program, str(self.folder / name)], COMMAND_SECONDS)
        except AgentSilentError:
            return None

    def _as_root(self, argv: Sequence[str]) -> None:
        process = self.start_program(argv)
        status = process.wait(COPY_SECONDS)
        process.stop(0.0)
        if status != 0:
            raise UserError(f"{self.spec.name}: {argv[0]} fails in the guest: {process.output[1]}")

    def pids(self) -> list[int]:
        """List the programs in the guest, by its own numbers."""
        if self._agent is None:
            return []
        try:
            return guest_process.pids(self._agent, GROUPS)
        except AgentSilentError:
            return []

    def _agent_here(self) -> GuestAgent:
        if self._agent is None:
            raise UserError(f"{self.spec.name}: a guest takes commands only after its start.")
        return self._agent


class _Inside(Inside):
    def __init__(self, domain: GuestDomain) -> None:
        self._domain = domain

    def spawn(self, argv: Sequence[str], *, log: str) -> Process:
        return self._domain.start_program(argv, log=log)


def seats(vcpus: int, pus: frozenset[int]) -> list[frozenset[int]]:
    """Where each vCPU is to run: on a PU of its own while they last, or, where there are more PUs
    than vCPUs, on any.
    """
    order = sorted(pus)
    if vcpus < len(order):
        return [pus] * vcpus
    return [frozenset({order[number % len(order)]}) for number in range(vcpus)]


def check_seats(
    name: str, who: str, has: Sequence[frozenset[int]], asked: Sequence[frozenset[int]]
) -> None:
    """`UserError` if by somebody's word a domain's vCPUs run elsewhere than asked."""
    if list(has) != list(asked):
        raise UserError(
            f"{name}: its vCPUs are asked to run on PUs {_shown(asked)}, and by {who}'s word they"
            f" run on {_shown(has)}; leave them alone."
        )


def _shown(pus: Sequence[frozenset[int]]) -> str:
    return " | ".join(map(listed, pus)) or "none"
