"""Moving a running guest from one libvirt daemon to another.

Source: https://libvirt.org/migration.html and https://libvirt.org/manpages/virsh.html#migrate. The
guest's disk is not copied: both hosts see the same file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tierlab.environments.daemons.libvirt import LibvirtDaemon
from tierlab.environments.domain import Move
from tierlab.environments.qemu.xml import Guest, elsewhere
from tierlab.errors import UserError

PATIENCE_SECONDS = 60
"""For a guest that writes to its memory faster than that is copied; then it is stopped for the
rest, however long that takes."""
LIVE = ("--live", "--timeout", str(PATIENCE_SECONDS))
"""Where the kernel tells what a guest writes to meanwhile. QEMU 7.2's emulation misses some of it:
moved live under load, emulated guests of two vCPUs panicked 4 times of 23. They stand still instead
while they are copied."""
MOVE_SECONDS = 180.0
ARRIVAL_POLL_SECONDS = 0.002

MILLISECOND = 1_000_000


def state_file(daemon: LibvirtDaemon, guest: Guest, suffix: str) -> Path:
    """What a daemon keeps of a running guest: ``.pid``, and its description in ``.xml``."""
    return daemon.folder / "run/libvirt/qemu" / f"{guest.identity}{suffix}"


def move(
    guest: Guest,
    source: LibvirtDaemon,
    target: LibvirtDaemon,
    port: str,
    received_by: Callable[[int], None],
) -> None:
    """Move it as it runs; `UserError` if it does not move, and then it is where it was.

    `port` is its port on the bridge there. `received_by` is told the process id of the hypervisor
    that is to receive it, long before the guest executes anything there.
    """
    described = guest.console.with_suffix(".moving.xml")
    described.write_text(elsewhere(source.virsh("dumpxml", "--migratable", guest.identity), port))
    channel = guest.console.with_suffix(".moving")
    with _expecting(state_file(target, guest, ".pid"), received_by):
        source.virsh(
            *("migrate", guest.identity, target.uri),
            # Caches are no danger where both see the same files through the same kernel.
            "--unsafe",
            *("--migrateuri", f"unix://{channel}", "--xml", str(described)),
            *(LIVE if guest.accelerated else ()),
            subject=guest.name,
            seconds=MOVE_SECONDS,
        )


def last_move(guest: Guest, host: LibvirtDaemon) -> Move:
    """How it came to the host that it is on now.

    See virDomainGetJobStats of https://libvirt.org/html/libvirt-libvirt-domain.html.
    """
    asked = ("domjobinfo", guest.identity, "--completed", "--rawstats")
    figures = _figures(host.virsh(*asked, subject=guest.name))
    downtime_ms = figures.get("downtime")
    return Move(
        downtime_ns=None if downtime_ms is None else downtime_ms * MILLISECOND,
        copied_bytes=figures.get("data_processed"),
        rounds=figures.get("memory_iteration"),
    )


@contextmanager
def _expecting(pid_file: Path, received_by: Callable[[int], None]) -> Iterator[None]:
    """Tell of the process as soon as its file names it; `UserError` if it never did."""
    over, told, failures = threading.Event(), threading.Event(), list[BaseException]()

    def watch() -> None:
        while not (words := _words(pid_file)):
            if over.wait(ARRIVAL_POLL_SECONDS):
                return
        try:
            received_by(int(words))
            told.set()
        except BaseException as error:
            failures.append(error)

    watcher = threading.Thread(target=watch, name=f"expecting {pid_file.stem}")
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    if failures:
        raise failures[0]
    if not told.is_set():
        raise UserError(f"{pid_file}: libvirt does not say which process received the guest.")


def _words(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _figures(said: str) -> Mapping[str, int]:
    """The numbers among virsh's raw statistics, lines of ``name: value``."""
    pairs = (line.split(":", 1) for line in said.splitlines() if ":" in line)
    return {name.strip(): int(value) for name, value in pairs if value.strip().isdigit()}
