"""This machine once more, emulated: its own files under a kernel that has KVM, on two sockets.

QEMU emulates AMD's virtualisation too, so that the host runs guests by KVM. It has a memory node
for each socket, and control groups of version 2 alone. Its root is this machine's, read-only; it
has no network, and ends with whoever started it. It keeps no snapshot: nobody would restore it.

Source: qemu-system-x86_64(1), and Documentation/filesystems/9p.rst of the Linux kernel.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.environments import held_vm, tick_counter
from tierlab.environments.guests.disk import make_disk
from tierlab.environments.guests.words import KERNEL_WORDS
from tierlab.environments.images import build as image_build
from tierlab.environments.images.image import MODULES, Image, Recipe, cache_folder
from tierlab.machine.programs import SYSTEM_PATH

PROCESSOR = "max,la57=off,-smap,-smep"
"""Without what only makes each access to memory slower to emulate: a fifth level of page tables,
and what the kernel may not do with a program's pages."""

SOCKETS, CORES = 2, 2
MEMORY = 4 << 30
RESULTS = Path("/mnt")
"""Where the host has the folder for what comes out."""

KERNEL = Recipe(
    packages=(),
    modules=(*MODULES, "kvm-amd", "tun", "bridge"),
    init=Path(__file__).with_name("emulated_init.sh").read_text(),
)

BOOT_SECONDS = 600.0
"""A guard only: a host is to boot in a few seconds, or some ten where this machine is busy."""
SILENCE = 20
POLL_SECONDS = 0.2
NOTHING = -1
"""Bytes of what a host has said whose command has not begun."""

HELD = (sys.executable, "-m", held_vm.__name__)
"""Start of the command, so that KVM is switched on once."""

JOB = """\
{environment}
mount --bind -o ro {images} {images}
cd {folder}
{command} >{results}/said 2>&1 </dev/null
echo $? >{results}/status
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


class EmulatedHost:
    """A host for one command; `folder` holds its disk and what comes out."""

    def __init__(self, folder: Path) -> None:
        self.results = folder / "results"
        """What the command writes to `RESULTS`."""
        self._folder = folder
        self._image = image_build.build(KERNEL, lambda _: None)

    def run(self, command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
        """Boot, run it where the caller is, and power off; AssertionError if it fails.

        It is to say something now and then: a host that is silent for `SILENCE` times as long as it
        took to boot stands still.
        """
        self.results.mkdir()
        names = {**environment, "PATH": SYSTEM_PATH, "HOME": str(Path.home())}
        job = JOB.format(
            environment="\n".join(f"export {k}={shlex.quote(v)}" for k, v in names.items()),
            images=shlex.quote(str(cache_folder())),
            folder=shlex.quote(str(Path.cwd())),
            command=shlex.join(map(str, (*HELD, *command))),
            results=RESULTS,
        )
        (self.results / "job").write_text(job)
        disk = self._folder / "disk"
        make_disk(disk)
        try:
            ended = self._boot(disk)
        finally:
            disk.unlink()
        said = f"{self._read(self.results / 'said')[-8000:]}\n{self._read(self._console)[-2000:]}"
        assert ended, f"it stands still\n{said}"
        assert self._read(self.results / "status") == "0\n", said

    def _boot(self, disk: Path) -> bool:
        """Whether it powers off at last; it is broken off where it stands still."""
        command = list(_command(self._image, disk, self.results))
        with (
            self._console.open("wb") as console,
            subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT
            ) as process,
        ):
            try:
                return self._wait(process)
            finally:
                process.kill()

    def _wait(self, process: subprocess.Popen[bytes]) -> bool:
        began = heard = time.monotonic()
        patience, size = BOOT_SECONDS, NOTHING
        while process.poll() is None:
            now, said = time.monotonic(), _size(self.results / "said")
            if said > size:
                if size == NOTHING:
                    patience = SILENCE * (now - began)
                heard, size = now, said
            elif now - heard > patience:
                return False
            time.sleep(POLL_SECONDS)
        return True

    @property
    def _console(self) -> Path:
        """What its kernel says."""
        return self._folder / "console.log"

    @staticmethod
    def _read(path: Path) -> str:
        return path.read_text(errors="replace") if path.exists() else ""


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else NOTHING


def _command(image: Image, disk: Path, results: Path) -> Iterator[str]:
    yield from ("setpriv", "--pdeathsig=KILL", "qemu-system-x86_64")
    yield from ("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot")
    yield from ("-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", PROCESSOR)
    yield from _shape()
    yield from ("-kernel", str(image.kernel), "-initrd", str(image.initramfs))
    yield from ("-append", " ".join(_words()))
    yield from ("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console")
    yield from ("-device", "virtio-rng-pci")
    yield from ("-drive", f"if=none,id=disk,file={disk},format=raw,cache=unsafe")
    yield from ("-device", "virtio-blk-pci,drive=disk")
    yield from _share("machine", Path("/"), "readonly=on,multidevs=remap")
    yield from _share("results", results, "readonly=off")


def _words() -> Iterator[str]:
    yield from (*KERNEL_WORDS, "console=ttyS0")
    # Emulated processors have this machine's counter for theirs, all the same one. The kernel, that
    # cannot know, would take a device for its clock, which is slow; and measured against one while
    # this machine is busy, the counter's pace comes out wrong.
    yield from ("tsc=reliable", f"tsc_early_khz={tick_counter.khz()}")


def _shape() -> Iterator[str]:
    yield from ("-smp", f"{SOCKETS * CORES},sockets={SOCKETS},cores={CORES},threads=1")
    yield from ("-m", f"{MEMORY >> 20}M")
    for node in range(SOCKETS):
        size = f"{MEMORY // SOCKETS >> 20}M"
        yield from ("-object", f"memory-backend-ram,id=node{node},size={size}")
        cpus = f"cpus={node * CORES}-{node * CORES + CORES - 1}"
        yield from ("-numa", f"node,nodeid={node},{cpus},memdev=node{node}")


def _share(name: str, folder: Path, options: str) -> Iterator[str]:
    yield from ("-fsdev", f"local,id={name},path={folder},security_model=none,{options}")
    yield from ("-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}")
