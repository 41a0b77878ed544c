"""A domain of the vSphere environment: a virtual machine that a vCenter keeps."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tierlab.environments.capability import Capability
from tierlab.environments.domain import (
    Completed,
    Domain,
    DomainSpec,
    DomainStats,
    Inside,
    Move,
    Topology,
)
from tierlab.environments.guests.agent import PATH
from tierlab.environments.guests.domain import USUAL_MEMORY
from tierlab.environments.guests.remote_process import SHELL
from tierlab.environments.ledger import Entry
from tierlab.environments.native.host import SERVER_USER
from tierlab.environments.native.host_domain import CAPABILITIES, Ground, HostDomain
from tierlab.environments.placement import Placement, listed
from tierlab.environments.process import Process
from tierlab.environments.refusal import refuse
from tierlab.environments.removal import GRACE, remove_listed
from tierlab.environments.removers import VIRTUAL_MACHINE
from tierlab.environments.vsphere.files import GuestFiles
from tierlab.environments.vsphere.guest import GuestAbsentError, GuestOperations
from tierlab.environments.vsphere.machine import Machine
from tierlab.environments.vsphere.process import WORD, end_all, members, start
from tierlab.environments.vsphere.session import Session
from tierlab.errors import UserError

BOOT_SECONDS = 300.0

_GIVE_UP = f"""\
user=$1; shift
rights='{" ".join([*HostDomain.given_up, *CAPABILITIES])}'
exec setpriv --reuid="$user" --regid="$(id -g "$user")" $rights -- "$@"
"""
UNPRIVILEGED = (SHELL, "-c", _GIVE_UP, "give-up", SERVER_USER)
"""Start of a command that runs as the servers' user."""

PREPARE = """\
set -e
folder=$1 user=$2 address=$3 prefix=$4 device=$5
chmod 700 "${folder%/*}/.passing"
install -d -m 750 -o "$user" -g "$(id -g "$user")" "$folder"
if [ -n "$address" ] && ! ip -o route get "$address" | grep -q '^local '; then
    ip address replace "$address/$prefix" dev "$device"
    ip link set "$device" up
fi
"""
"""Prepares a guest that has booted: its folder, and its address unless that is its own already."""


class VsphereDomain(Domain):
    """One virtual machine; its folder is in it alone."""

    def __init__(
        self, ground: Ground, spec: DomainSpec, session: Session, pus: frozenset[int]
    ) -> None:
        """`pus`: those of the hosts."""
        self.spec = spec
        self.folder = ground.work / spec.name
        self._ground = ground
        self._pus = pus
        self._machine = Machine(session, ground.ledger, spec.name)
        self._guest: GuestOperations | None = None
        self._processes: list[Process] = []
        self._programs = itertools.count(1)

    def boot(self) -> None:
        """Have the virtual machine made, placed and powered on; `start` waits for its guest."""
        if self._guest is not None:
            return
        spec, placement = self.spec, self.spec.placement
        if spec.topology != Topology():
            raise UserError(
                f"{spec.name}: a virtual machine has its template's sockets here; leave the"
                " topology out."
            )
        memory = placement.memory or USUAL_MEMORY
        self._machine.make(spec.vcpus or 1, memory, placement.nodes)
        self._place_first(placement)
        self._machine.power_on()
        passing = self.folder.with_name(".passing")
        self._guest = GuestOperations(self._machine.session, self._machine.vm, spec.name, passing)
        self._files = GuestFiles(self._guest, self.folder, self._ground.work)

    def start(self) -> None:
        """Boot it if it was not, and prepare its guest once that takes commands."""
        self.boot()
        guest, spec = self._guest_here(), self.spec
        try:
            guest.wait_ready(BOOT_SECONDS)
        except GuestAbsentError as error:
            raise UserError(
                f"{spec.name}: its guest takes no commands after {BOOT_SECONDS:g} seconds"
                f" ({error}); look whether VMware Tools run in the template."
            ) from error
        settings = self._machine.session.settings
        network = [spec.address or "", str(settings.network.servers.prefixlen)]
        prepare = [SHELL, "-c", PREPARE, "prepare", str(self.folder), SERVER_USER, *network]
        guest.do([*prepare, settings.network.device])
        if spec.placement != Placement():
            self.verify(spec.placement)

    def _place_first(self, placement: Placement) -> None:
        if placement.pus is not None:
            self.pin(placement.pus)
        if placement.weight is not None:
            self.set_weight(placement.weight)

    def stop(self) -> None:
        """End every program in the guest; the guest itself stays."""
        for process in self._processes:
            process.stop(GRACE)
        self._processes.clear()
        if self._guest is not None:
            with suppress(GuestAbsentError):
                end_all(self._guest, self._word)

    def destroy(self) -> None:
        """Remove the virtual machine; its programs end with it."""
        self._processes.clear()
        left = remove_listed(self._ground.ledger, self._is_mine)
        self._guest = None
        if left:
            raise UserError(f"{self.spec.name}: {'; '.join(left)}; the trial's end tries again.")

    def _is_mine(self, entry: Entry) -> bool:
        return entry.kind == VIRTUAL_MACHINE and entry.what["name"] == self._machine.name

    def inside(self) -> Inside:
        """The way in, as the guest's administrator."""
        return _Inside(self)

    def run(self, argv: Sequence[str], *, timeout: float) -> Completed:
        """Run a command to its end, as the servers' user."""
        guest, word = self._guest_here(), self._next_word()
        place = ["env", f"--chdir={self.folder}", f"PATH={PATH}", f"{WORD}={word}"]
        done = guest.run([*place, *UNPRIVILEGED, *argv], timeout)
        if done is None:
            end_all(guest, f"^{WORD}={word}$")
            raise UserError(
                f"{self.spec.name}: '{argv[0]}' did not end within {timeout:g} seconds."
            )
        return done

    def spawn(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a server's program in the guest."""
        return self.start_program([*UNPRIVILEGED, *argv], log=log, env=env)

    def start_program(
        self, argv: Sequence[str], *, log: str, env: Mapping[str, str] | None = None
    ) -> Process:
        """Start a program as the guest's administrator, in the domain's folder."""
        path = self.folder / log
        self.make_folder(str(Path(log).parent))
        process = start(
            self._guest_here(),
            argv,
            word=self._next_word(),
            folder=self.folder,
            log=path,
            env={"PATH": PATH, **(env or {})},
        )
        self._processes.append(process)
        return process

    def put(self, source: Path, name: str) -> Path:
        """Copy a file or a tree into the guest."""
        return self._files.put(source, name)

    def write(self, name: str, text: str) -> Path:
        """Write a text file."""
        return self._files.write(name, text)

    def make_folder(self, name: str) -> Path:
        """Make a folder in the folder."""
        return self._files.make_folder(name)

    def get(self, name: str, target: Path) -> None:
        """Copy a file or a tree out of the guest."""
        self._files.get(name, target)

    def has(self, name: str) -> bool:
        """Look."""
        return self._files.has(name)

    def text(self, name: str) -> str | None:
        """Read it."""
        return self._files.text(name)

    def pin(self, pus: frozenset[int]) -> None:
        """Let its vCPUs run on any of these PUs."""
        if not pus <= self._pus:
            raise UserError(
                f"{self.spec.name}: the hosts have no PU {listed(pus - self._pus)}; choose among"
                f" {listed(self._pus)}."
            )
        self._machine.pin(pus)

    def set_nodes(self, nodes: frozenset[int]) -> None:
        """Refuse any other than those that it was started on."""
        if nodes != self.read_back().nodes:
            raise self._refusal(Capability.MOVE_MEMORY)

    def set_weight(self, weight: int) -> None:
        """Set its shares."""
        self._machine.set_weight(weight)

    def set_memory(self, limit: int) -> None:
        """Limit what it has of the host's memory."""
        self._machine.set_memory(limit)

    def set_disk(self, writes: int | None, reads: int | None) -> None:  # noqa: ARG002
        """Refused: see `probe`."""
        raise self._refusal(Capability.DISK)

    def migrate(self, host: str) -> Move:
        """Move it to another host by vMotion, which tells nothing of how it went."""
        if host == self.read_back().host:
            raise UserError(f"{self.spec.name}: it is on host {host} already; name another.")
        self._machine.move(host)
        return Move(downtime_ns=None, copied_bytes=None, rounds=None)

    def stats(self) -> DomainStats:
        """By the vCenter's word; the processes are those inside."""
        machine = self._machine
        return DomainStats(machine.cpu_ns(), machine.memory_bytes(), len(self.pids()))

    def read_back(self) -> Placement:
        """From the virtual machine's configuration at the vCenter."""
        return self._machine.placement()

    def cgroups(self) -> Mapping[str, Path]:
        """None: it is on another kernel."""
        return {}

    def pids(self) -> list[int]:
        """List the programs in the guest, by its own numbers."""
        if self._guest is None:
            return []
        try:
            return members(self._guest, self._word)
        except GuestAbsentError:
            return []

    @property
    def _word(self) -> str:
        """What all of its programs have in their environment."""
        return f"^{WORD}={self._ground.ledger.token}/"

    def _next_word(self) -> str:
        return f"{self._ground.ledger.token}/{next(self._programs)}"

    def _guest_here(self) -> GuestOperations:
        if self._guest is None:
            raise UserError(f"{self.spec.name}: a guest takes commands only after its start.")
        return self._guest

    def _refusal(self, wanted: Capability) -> UserError:
        return refuse(self.spec.name, self._ground.environment, wanted, self._ground.cannot[wanted])


class _Inside(Inside):
    def __init__(self, domain: VsphereDomain) -> None:
        self._domain = domain

    def spawn(self, argv: Sequence[str], *, log: str) -> Process:
        return self._domain.start_program(argv, log=log)
