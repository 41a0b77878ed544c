"""A domain on this host's own kernel: a folder and a control group for a server's processes."""

from __future__ import annotations

import os
import pwd
import socket
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import STDOUT
from typing import ClassVar

from tierlab.environments.capability import Capability
from tierlab.environments.cgroups.cgroup import Group, Hierarchy
from tierlab.environments.device import device_of
from tierlab.environments.domain import Completed, Domain, DomainSpec, DomainStats, Move
from tierlab.environments.files import copy_tree, open_folder, remove_tree
from tierlab.environments.launching import launch_program, run_to_end
from tierlab.environments.ledger import Entry, Ledger
from tierlab.environments.network import netns
from tierlab.environments.placement import Placement
from tierlab.environments.process import Launch, Process, end
from tierlab.environments.refusal import refuse
from tierlab.environments.removal import GRACE, remove_listed
from tierlab.environments.unix.address import connect
from tierlab.errors import UserError
from tierlab.machine.kernel_files import parse_list, read_text

CAPABILITIES = ("--bounding-set=-all", "--inh-caps=-all")
"""Options of setpriv(1) with which a program has none and gets none."""
ISOLATED = Path("/sys/devices/system/cpu/isolated")
"""Lists the PUs on which the scheduler puts nothing by itself (the boot option isolcpus)."""


@dataclass(frozen=True)
class Ground:
    """What all domains of a trial share; None for what this host does not grant."""

    environment: str
    """Its name."""
    ledger: Ledger
    work: Path
    cannot: Mapping[Capability, str]
    namespace: netns.Namespace | None = None
    hierarchy: Hierarchy | None = None
    user: pwd.struct_passwd | None = None


class HostDomain(Domain):
    """A folder, and with privilege a control group, for the processes of one server.

    Environments differ in how the group comes to be and what else a program enters.
    """

    given_up: ClassVar[tuple[str, ...]] = ("--clear-groups", "--no-new-privs")
    """Options of setpriv(1): the rights that a program does not have, besides being root."""

    def __init__(self, ground: Ground, spec: DomainSpec) -> None:
        self.spec = spec
        self.folder = ground.work / spec.name
        self._ground = ground
        self._group: Group | None = None
        self._is_pinned = False
        self._processes: list[Process] = []

    def start(self) -> None:
        """Make folder and control group, and place the group."""
        self.folder.mkdir(mode=0o750)
        self.own(self.folder)
        self._group = self._make_group()
        if self.spec.placement != Placement():
            self.place(self.spec.placement)

    @abstractmethod
    def _make_group(self) -> Group | None:
        """Make the control group, and all else that processes enter; None without privilege."""

    @abstractmethod
    def _entry(self) -> Sequence[str]:
        """The command by which a process enters the domain's namespaces and becomes the next."""

    def stop(self) -> None:
        """End every process in the domain."""
        for process in self._processes:
            process.stop(GRACE)
        self._processes.clear()
        if self._group is not None:
            end(self.pids, GRACE)

    def destroy(self) -> None:
        """Stop, and remove folder and control group."""
        self.stop()
        left = remove_listed(self._ground.ledger, self._is_mine)
        with suppress(OSError):
            remove_tree(self.folder)
        self._group = None
        if left:
            raise UserError(f"{self.spec.name}: {'; '.join(left)}; the trial's end tries again.")

    def _is_mine(self, entry: Entry) -> bool:
        """Whether this domain made what the ledger lists there.

        Its groups bear one name in every tree, also in those that Tierlab has no use for.
        """
        if entry.kind != "cgroup" or self._group is None:
            return False
        names = {folder.name for folder in self._group.entrances()}
        return Path(str(entry.what["path"])).name in names

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command to its end, as the servers' user."""
        done = run_to_end(self._ground.ledger, self._launch(argv, None), timeout)
        if done is None:
            raise UserError(
                f"{self.spec.name}: '{argv[0]}' did not end within {timeout:g} seconds."
            )
        return done

    def spawn(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a server's program in the domain."""
        path = self.folder / log
        self.make_folder(str(path.parent.relative_to(self.folder)))
        with path.open("ab") as output:
            # Many a configuration file names /dev/stderr, which is opened anew by who runs.
            self.own(path)
            launch = self._launch(argv, env)
            process = launch_program(self._ground.ledger, launch, output.fileno(), STDOUT)
        self._processes.append(process)
        return process

    def put(self, source: Path, name: str) -> Path:
        """Copy a file or a tree into the folder (sharing blocks where the file system can)."""
        target = self.folder / name
        open_folder(target.parent)
        copy_tree(source, target)
        self.own(target)
        return target

    def write(self, name: str, text: str) -> Path:
        """Write a text file."""
        path = self.folder / name
        open_folder(path.parent)
        path.write_text(text)
        self.own(path.parent)
        return path

    def make_folder(self, name: str) -> Path:
        """Make a folder in the folder."""
        path = self.folder / name
        open_folder(path)
        self.own(path)
        return path

    def get(self, name: str, target: Path) -> None:
        """Copy a file or a tree out of the folder."""
        copy_tree(self.folder / name, target)

    def has(self, name: str) -> bool:
        """Look."""
        return (self.folder / name).exists()

    def text(self, name: str) -> str | None:
        """Read it."""
        try:
            return (self.folder / name).read_text(errors="replace")
        except OSError:
            return None

    def connect_unix(self, path: str, *, timeout: float) -> socket.socket:
        """Connect in the trial's network, to which abstract names belong."""
        namespace = self._ground.namespace
        kind = (socket.AF_UNIX, socket.SOCK_STREAM)
        link = socket.socket(*kind) if namespace is None else namespace.socket(*kind)
        try:
            link.settimeout(timeout)
            connect(link, self._seen_from_here(path))
        except OSError:
            link.close()
            raise
        return link

    def _seen_from_here(self, path: str) -> str:
        """A path in the domain as this process reaches it."""
        return path

    def own(self, path: Path) -> None:
        """Give a file or a tree to the servers' user; of a link the link alone."""
        user = self._ground.user
        if user is None:
            return
        os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        if path.is_symlink():
            return  # os.walk follows one that it begins at
        for folder, names, files in os.walk(path):
            for name in (*names, *files):
                os.chown(Path(folder, name), user.pw_uid, user.pw_gid, follow_symlinks=False)

    def pin(self, pus: frozenset[int]) -> None:
        """Let the domain run on these PUs only."""
        hierarchy, group = self._controlled(Capability.PIN)
        hierarchy.pin(group, ",".join(str(pu) for pu in sorted(pus)))
        self._is_pinned = True

    def set_nodes(self, nodes: frozenset[int]) -> None:
        """Keep its memory on these NUMA nodes."""
        hierarchy, group = self._controlled(Capability.PIN)
        hierarchy.set_nodes(group, ",".join(str(node) for node in sorted(nodes)))

    def set_weight(self, weight: int) -> None:
        """Set its share of contended CPU time."""
        hierarchy, group = self._controlled(Capability.WEIGHT)
        hierarchy.set_weight(group, weight)

    def set_memory(self, limit: int) -> None:
        """Limit its memory, in bytes."""
        hierarchy, group = self._controlled(Capability.MEMORY)
        hierarchy.set_memory(group, limit)

    def set_disk(self, writes: int | None, reads: int | None) -> None:
        """Limit its bytes written and read operations on its folder's disk, each a second."""
        hierarchy, group = self._controlled(Capability.DISK)
        hierarchy.set_disk(group, device_of(self.folder), writes, reads)

    def migrate(self, host: str) -> Move:  # noqa: ARG002 - refused whatever the host
        """Refused: see `probe`."""
        raise self._refusal(Capability.MIGRATE)

    def stats(self) -> DomainStats:
        """Read the control group's accounts; all None without one."""
        hierarchy = self._ground.hierarchy
        if hierarchy is None or self._group is None:
            return DomainStats(None, None, len(self.pids()))
        return hierarchy.stats(self._group)

    def read_back(self) -> Placement:
        """Read the placement from the kernel; nothing is known without a control group."""
        hierarchy = self._ground.hierarchy
        if hierarchy is None or self._group is None:
            return Placement()
        found = hierarchy.read_back(self._group)
        if self._is_pinned or found.pus is None:
            return found
        # It may be there by its group, but nothing comes there that does not ask for it.
        return replace(found, pus=found.pus - _isolated() or found.pus)

    def cgroups(self) -> Mapping[str, Path]:
        """Folders of its control group by controller (version 1), and version 2's as `unified`."""
        return {} if self._group is None else self._group.sampled()

    def pids(self) -> list[int]:
        """List the processes in it."""
        if self._group is not None:
            return self._group.pids()
        return sorted({pid for process in self._processes for pid in process.members()})

    def _launch(self, argv: Sequence[str], env: Mapping[str, str] | None) -> Launch:
        ground = self._ground
        prefix = [*self._entry(), *self._unprivileged()]
        groups = [] if self._group is None else self._group.entrances()
        token = ground.ledger.token
        return Launch(argv, token, groups, prefix, env, cwd=self.folder)

    def _unprivileged(self) -> list[str]:
        """Start of a command that runs as the servers' user; empty where there is no other."""
        user = self._ground.user
        if user is None:
            return []
        return [
            *("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}"),
            *(*self.given_up, "--"),
        ]

    def _controlled(self, wanted: Capability) -> tuple[Hierarchy, Group]:
        hierarchy = self._ground.hierarchy
        if wanted in self._ground.cannot or hierarchy is None:
            raise self._refusal(wanted)
        if self._group is None:
            raise UserError(f"{self.spec.name}: a domain can be placed only after its start.")
        return hierarchy, self._group

    def _refusal(self, wanted: Capability) -> UserError:
        return refuse(self.spec.name, self._ground.environment, wanted, self._ground.cannot[wanted])


def _isolated() -> frozenset[int]:
    return frozenset(parse_list(read_text(ISOLATED) or ""))
