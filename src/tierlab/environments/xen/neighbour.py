"""A neighbour on a host that runs Xen: a domain with a kernel, one program and no device."""

from __future__ import annotations

from importlib import resources

from tierlab.environments.guests.domain import check_seats
from tierlab.environments.guests.process import GuestProcess
from tierlab.environments.guests.words import KERNEL_WORDS
from tierlab.environments.images.initramfs import with_program
from tierlab.environments.neighbour import Neighbour
from tierlab.environments.placement import Placement
from tierlab.environments.xen.host import KEPT_SECONDS, XenHost
from tierlab.environments.xen.machine import PUS
from tierlab.environments.xen.toolstack import Kernel, Seen, placed
from tierlab.errors import UserError
from tierlab.machine.mapping import Seats

MEMORY = 192 << 20
"""Bytes: the kernel, and its first file system twice."""
MAKE_SECONDS = 180.0
FRESH_SECONDS = 0.5
"""How old a look may be while somebody waits: one tells of all neighbours."""
INIT = "neighbour"

_PROGRAM = resources.files(__package__).joinpath("neighbour.sh").read_text()
_MAKE = 'exec flock --close /run/creating xl create -e -p "$1" </dev/null'
_CONSOLE = 'console=$(xenstore-read "/local/domain/$(xl domid "$1")/console/tty"); '
_HEAR = _CONSOLE + 'if timeout 10 grep -q computing "$console"; then echo up; fi'
_TELL = _CONSOLE + 'echo "$2" >"$console"'


class XenNeighbour(Neighbour):
    """One domain, of which Xen is told and asked everything."""

    def __init__(self, name: str, seats: Seats, host: XenHost) -> None:
        self.name = name
        self._seats = seats
        self._host = host
        self._maker: GuestProcess | None = None
        self._up = False
        """Whether its program has said that it runs: a kernel that comes up waits now and then."""
        self._wanted = len(seats.vcpus)

    def boot(self) -> None:
        """Have the domain made, pinned and weighted; the first of a trial waits for the host."""
        if self._maker is not None:
            return
        self._host.wait_ready()
        folder = self._host.machine.folder
        file = folder / f"{self.name}.cfg"
        ramdisk = folder / "neighbour.initramfs"
        if not ramdisk.exists():
            with_program(ramdisk, self._host.machine.image.initramfs, INIT, _PROGRAM)
        words = (
            *("console=hvc0", *KERNEL_WORDS),
            *(f"rdinit=/{INIT}", f"busy_vcpus={self._wanted}"),
        )
        kernel = Kernel(self.name, MEMORY, self._wanted, words, str(ramdisk))
        file.write_text(placed(kernel, self._seats))
        self._maker = self._host.start(_MAKE, [str(file)])

    def start(self) -> None:
        """Wait until it is made; it does not run yet."""
        self.boot()
        assert self._maker is not None
        if self._maker.wait(MAKE_SECONDS) != 0:
            said = " | ".join("".join(self._maker.output).split("\n")[-4:])
            raise UserError(f"{self.name}: Xen cannot make its domain: {said or 'no end'}")

    def compute(self) -> None:
        """Let it run: its kernel comes up, and then its program."""
        self._host.change(f"xl unpause {self.name}", self.name)

    def ready(self) -> bool:
        """Hear that it computes, and read back how it is placed and what wants to run."""
        self._up = self._up or bool(self._host.run(_HEAR, self.name, subject=self.name))
        if not self._up:
            return False
        seen = self._look(FRESH_SECONDS)
        self._verify(seen)
        return sum(seen.running) == self._wanted

    def occupy(self, vcpus: int) -> None:
        """Tell its program."""
        self._host.run(_TELL, self.name, str(vcpus), subject=self.name)
        self._wanted = vcpus

    def busy(self) -> int:
        """How many want to run, by Xen's word: one that rests is blocked."""
        return sum(self._look(FRESH_SECONDS).running)

    def check(self) -> None:
        """Ask Xen; a virtual CPU that waits for a moment is looked at again."""
        seen = self._look(KEPT_SECONDS)
        self._verify(seen)
        if sum(seen.running) < self._wanted and self.busy() < self._wanted:
            raise UserError(
                f"{self.name}: {self._wanted} of its vCPUs are to compute, and by Xen's word"
                f" {sum(seen.running)} do; run the trial again."
            )

    def destroy(self) -> None:
        """Remove the domain."""
        if self._maker is not None:
            self._host.forget(self.name)
            self._maker = None

    def _look(self, at_most: float) -> Seen:
        return self._host.look(self.name, at_most=at_most)

    def _verify(self, seen: Seen) -> None:
        has = [PUS if each is None else each for each in seen.vcpus]
        check_seats(self.name, "Xen", has, [frozenset({pu}) for pu in self._seats.vcpus])
        found = Placement(weight=seen.weight)
        if difference := Placement(weight=self._seats.weight).difference(found):
            raise UserError(f"{self.name}: {difference}; leave its weight alone.")
