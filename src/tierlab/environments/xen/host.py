"""A running host with Xen, and its toolstack: commands in its domain 0."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from subprocess import STDOUT

from tierlab.environments.addresses import BRIDGED
from tierlab.environments.files import make_folder
from tierlab.environments.guests import process as guest_process
from tierlab.environments.guests.agent import AgentSilentError, GuestAgent
from tierlab.environments.guests.configuration import Configuration
from tierlab.environments.guests.disk import SIZE
from tierlab.environments.guests.patience import Patience
from tierlab.environments.guests.process import GuestProcess
from tierlab.environments.guests.remote_process import SHELL
from tierlab.environments.images.image import XEN_VERSION, Image
from tierlab.environments.launching import last_words, launch_program
from tierlab.environments.native.host_domain import Ground
from tierlab.environments.network.netns import Namespace
from tierlab.environments.process import POLL_SECONDS, Launch, Process
from tierlab.environments.snapshots.monitor import MonitorError
from tierlab.environments.snapshots.shelf import snapshot, unkept, unusable
from tierlab.environments.xen.machine import DESCRIPTION, Seat, XenMachine
from tierlab.environments.xen.toolstack import DISK, LOOK, Seen, looked
from tierlab.errors import UserError
from tierlab.machine.xen_numbers import described
from tierlab.tables.clock import ClockReading

BOOT_SECONDS = 600.0
"""Of a processor: ten times what the host, or all of a trial's domains, take together."""
ASK_SECONDS = 5.0
ROUND_TRIPS = 8
COMMAND_SECONDS = 60.0
KEPT_SECONDS = 5.0
"""How long a look at the domains serves for the next: it takes domain 0 a second or more."""

TOOLS = f"/usr/lib/xen-{XEN_VERSION}/bin"
_PATH = f"PATH={TOOLS}:$PATH; "

HOTPLUG = resources.files(__package__).joinpath("hotplug.sh").read_text()

_START = """\
set -e
mount -t xenfs xenfs /proc/xen
mkdir -p /run/lock /run/xen /run/xenstored /var/lib/xen /var/lib/xenstored /var/log/xen
xenstored --pid-file /run/xenstored.pid >/dev/null 2>&1
until xenstore-exists / 2>/dev/null; do sleep 0.1; done
xen-init-dom0
xenconsoled --pid-file=/run/xenconsoled.pid >/dev/null 2>&1
xl sched-credit2 -d Domain-0 -w 65535
xl info --numa
"""
"""What Xen's own start-up script does, without the options that nobody asked for. Domain 0 serves
all others' devices: it has the greatest weight, so that nobody waits behind who only computes."""


class XenHost:
    """A host with Xen, emulated, for the domains of one trial."""

    def __init__(self, ground: Ground, image: Image, sysctls: Mapping[str, int]) -> None:
        """Make what it consists of, and start it; `wait_ready` waits until it takes commands."""
        self.sysctls = sysctls
        self._ground = ground
        folder = ground.work / ".xen"
        make_folder(ground.ledger, folder, mode=0o700)
        self.machine = XenMachine(image, ground.work, folder)
        self._free = self.machine.seats
        self.disks: dict[str, str] = {}
        """What domain 0 calls the disk behind a domain's, and then the domain and its disk."""
        self._numbers = itertools.count(1)
        self._agent: GuestAgent | None = None
        self._seen: tuple[float, dict[str, Seen]] = (float("-inf"), {})
        self.machine.hotplug.write_text(HOTPLUG)
        self.machine.hotplug.chmod(0o755)
        for seat in self._free:
            with seat.disk.open("wb") as file:
                file.truncate(SIZE)
        assert ground.namespace is not None  # `probe` refuses a machine without
        assert ground.hierarchy is not None  # nor without these
        _make_wires(ground.namespace, self._free)
        self._groups = ground.hierarchy.make(ground.ledger, "xen").entrances()
        self._snapshot = snapshot(image, self.machine.shape())
        self.restored = self._snapshot.exists()
        self._process = self._launch()

    def _launch(self) -> Process:
        ground, machine = self._ground, self.machine
        assert ground.namespace is not None  # see `__init__`
        launch = Launch(
            machine.command(restored=self.restored),
            ground.ledger.token,
            self._groups,
            ground.namespace.entry,
            cwd=machine.image.folder,
        )
        with self._log.open("ab") as log:
            return launch_program(ground.ledger, launch, log.fileno(), STDOUT)

    @property
    def _log(self) -> Path:
        """What the emulator says."""
        return self.machine.folder / "qemu.log"

    def wait_ready(self) -> None:
        """Wait until it takes commands; `UserError` if it does not, or is another machine."""
        if self._agent is not None:
            return
        if self.restored:
            self._restore()
        self._agent = self._greeted()
        if not self.restored:
            self._begin()
            self._keep()
        Configuration(name="xen", folder=self._ground.work, user=0, bus="virtio", disk="").apply(
            self._agent
        )

    def _restore(self) -> None:
        """Have the state of one that was up, or boot."""
        try:
            self._snapshot.restore(self.machine.monitor)
        except (MonitorError, OSError) as error:
            unusable(self._snapshot, error)
            self._process.stop(0.0)
            self.restored = False
            self._process = self._launch()

    def _begin(self) -> None:
        """Start Xen's toolstack."""
        found = described(self.run(_START))
        if found != DESCRIPTION:
            raise UserError(
                f"system.environment: the host for Xen is to be '{DESCRIPTION}', and Xen says that"
                f" it is '{found}'; build its image anew, and say so to Tierlab's authors."
            )

    def _keep(self) -> None:
        try:
            self._snapshot.take(self.machine.monitor, self._ground.ledger)
        except (MonitorError, OSError, UserError) as error:
            unkept(error)

    def _greeted(self) -> GuestAgent:
        """Domain 0's agent, which answers."""
        patience = self.patience()
        while (agent := self._call()) is None:
            self._check_alive(patience)
            time.sleep(POLL_SECONDS)
        while not agent.answers(ASK_SECONDS):
            self._check_alive(patience)
        return agent

    def _call(self) -> GuestAgent | None:
        """Talk to domain 0's agent; None while the emulator does not listen yet."""
        try:
            return GuestAgent(self.machine.socket)
        except OSError:
            return None

    def patience(self) -> Patience:
        """With it, or with a domain on it, from now on."""
        return Patience(self._process.pid, BOOT_SECONDS)

    def _check_alive(self, patience: Patience) -> None:
        if self._process.poll() is None and not patience.is_over():
            return
        told = [path for path in (self.machine.console, self._log) if path.exists()]
        said = [path.read_text(errors="replace") for path in told]
        raise UserError(
            "system.environment: the host for Xen does not come up; what it said last:"
            f" {last_words(''.join(said))}"
        )

    def take_seat(self, name: str) -> Seat:
        """Take a seat for a domain of that name; `UserError` if none is left."""
        if not self._free:
            most = len(self.machine.seats)
            raise UserError(
                f"system.environment: the host for Xen has room for {most} servers and no more;"
                " ask for fewer, or use environment 'qemu'."
            )
        seat = self._free.pop(0)
        self.disks[Path(seat.device).name] = f"{name}/{DISK}"
        return seat

    def give_back(self, seat: Seat) -> None:
        """Have a seat for another domain."""
        del self.disks[Path(seat.device).name]
        self._free.append(seat)

    def start(self, script: str, arguments: Sequence[str]) -> GuestProcess:
        """Start a shell script in domain 0, which has Xen's tools on its path."""
        return guest_process.start(
            self._agent_here(),
            [SHELL, "-c", _PATH + script, "tierlab", *arguments],
            group=str(next(self._numbers)),
            folder="/",
        )

    def run(self, script: str, *arguments: str, subject: str = "system.environment") -> str:
        """Run one to its end; what it said, or `UserError` about `subject`.

        What it leaves running is let be.
        """
        argv = [SHELL, "-c", _PATH + script, "tierlab", *arguments]
        try:
            done = self._agent_here().run(argv, COMMAND_SECONDS)
        except AgentSilentError as error:
            raise UserError(
                f"{subject}: the host for Xen does not answer ({error}); run the trial again."
            ) from error
        if done is None or done.status != 0:
            said = "no end" if done is None else last_words(done.stderr or done.stdout)
            raise UserError(
                f"{subject}: Xen's toolstack refuses ({said}); what was asked of it:"
                f" {' '.join([script.strip().splitlines()[-1], *arguments])}"
            )
        return done.stdout

    def change(self, command: str, subject: str) -> None:
        """Change a domain; the next look is a new one."""
        self._seen = (float("-inf"), {})
        self.run(command, subject=subject)
        self._seen = (float("-inf"), {})

    def forget(self, name: str) -> None:
        """Destroy a domain, if it is there."""
        self.change(f"if xl domid {name} >/dev/null 2>&1; then xl destroy {name}; fi", name)

    def look(self, name: str, *, at_most: float = KEPT_SECONDS) -> Seen:
        """How a domain is now, by a look that is `at_most` so many seconds old."""
        when, found = self._seen
        if time.monotonic() - when > at_most:
            found = looked(self.run(LOOK, subject=name))
            self._seen = (time.monotonic(), found)
        if name not in found:
            raise UserError(f"{name}: Xen does not know its domain any more; see its server's log.")
        return found[name]

    def read_clock(self) -> ClockReading:
        """Ask domain 0 for its time; of several answers the quickest counts."""
        return min((self._ask() for _ in range(ROUND_TRIPS)), key=lambda read: read.uncertainty_ns)

    def _ask(self) -> ClockReading:
        asked_ns, began = time.time_ns(), time.monotonic_ns()
        told_ns = int(self.run("date +%s%N"))
        half_ns = (time.monotonic_ns() - began) // 2
        at_ns = asked_ns + half_ns
        return ClockReading(at_ns=at_ns, offset_ns=at_ns - told_ns, uncertainty_ns=half_ns + 1)

    def _agent_here(self) -> GuestAgent:
        if self._agent is None:
            raise UserError("system.environment: the host for Xen is not up yet.")
        return self._agent


def _make_wires(namespace: Namespace, seats: Sequence[Seat]) -> None:
    """Make the trial's ends of the wires, as ports of its bridge; they go with its namespace."""
    # Here: who has no wires to plug in need not wait until it is loaded.
    from pyroute2 import NetlinkError

    try:
        namespace.inside(lambda: _plug_in(seats))
    except (OSError, NetlinkError) as error:
        raise UserError(
            f"system.environment: cannot make the wires to the host for Xen ({error});"
            " 'tierlab doctor' says what this machine allows."
        ) from error


def _plug_in(seats: Sequence[Seat]) -> None:
    from pyroute2 import IPRoute

    with IPRoute() as route:
        bridge = route.link_lookup(ifname=BRIDGED.interface)[0]
        for seat in seats:
            route.link("add", ifname=seat.wire, kind="tuntap", mode="tap")
            wire = route.link_lookup(ifname=seat.wire)[0]
            route.link("set", index=wire, master=bridge, state="up")
