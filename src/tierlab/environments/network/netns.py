"""The network namespace of a trial: loopback only, no way out, sysctls of its own.

It is bound to ``/run/netns/tierlab-<trial>``, so that ``ip netns`` shows it. It is not made with
``ip netns add`` (or the libraries that follow it), which leaves a mount on /run/netns behind, nor
entered with ``ip netns exec``, which hides the control groups.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from tierlab.environments.files import share_folder
from tierlab.environments.ledger import Ledger
from tierlab.errors import UserError
from tierlab.machine.kernel_calls import setns

FOLDER = Path("/run/netns")

T = TypeVar("T")


class Namespace:
    """A network namespace that exists; see `create`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def entry(self) -> list[str]:
        """The command that enters it and becomes the next one."""
        return ["nsenter", f"--net={self.path}"]

    def inside(self, work: Callable[[], T]) -> T:
        """Do some work in a thread of its own that has joined the namespace.

        setns(2) moves a single thread; sockets made there stay in the namespace for good.
        """
        results: list[T] = []
        errors: list[BaseException] = []

        def join_and_work() -> None:
            try:
                namespace = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    setns(namespace)
                finally:
                    os.close(namespace)
                results.append(work())
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=join_and_work, name=f"inside {self.path.name}")
        thread.start()
        thread.join()
        if errors:
            raise errors[0]
        return results[0]

    def socket(
        self, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM, protocol: int = 0
    ) -> socket.socket:
        """Make a socket inside, for TCP unless said otherwise."""
        return self.inside(lambda: socket.socket(family, kind, protocol))

    def take_all_addresses(self) -> None:
        """Take all IPv4 addresses for its own: who calls one finds nobody there, and is seen."""
        route = ["ip", "route", "add", "local", "default", "dev", "lo"]
        made = subprocess.run([*self.entry, *route], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise UserError(f"{self.path}: ip route: {made.stderr.strip()}.")


def create(ledger: Ledger, sysctls: Mapping[str, int]) -> Namespace:
    """Make the namespace of a trial, bring its loopback up and set its sysctls.

    `sysctls` by their dotted names (``net.core.somaxconn``). They belong to the namespace alone
    and go with it.
    """
    share_folder(ledger, FOLDER)
    path = FOLDER / f"tierlab-{ledger.trial}"
    entry = ledger.add("network namespace", path=str(path))
    try:
        path.touch(mode=0o444, exist_ok=False)
    except OSError as error:
        ledger.strike(entry)
        raise UserError(
            f"{path}: cannot make the network namespace ({error.strerror}); if it is left over from"
            " a trial with another ledger folder, remove it with 'ip netns delete'."
        ) from error
    # Its loopback by `ip`, not by netlink's library: that takes longer to load than all else here.
    made = subprocess.run(
        ["unshare", f"--net={path}", "ip", "link", "set", "lo", "up"],
        capture_output=True,
        text=True,
        check=False,
    )
    ledger.amend(entry, inode=path.stat().st_ino)
    if made.returncode != 0:
        raise UserError(
            f"{path}: cannot make the network namespace ({made.stderr.strip()});"
            " 'tierlab doctor' says what this machine allows."
        )
    namespace = Namespace(path)
    namespace.inside(lambda: _set_sysctls(sysctls))
    return namespace


def _set_sysctls(sysctls: Mapping[str, int]) -> None:
    for name, value in sysctls.items():
        path = Path("/proc/sys", *name.split("."))
        try:
            path.write_text(str(value))
        except OSError as error:
            raise UserError(
                f"sysctl {name} = {value}: the kernel refuses it ({error.strerror})."
            ) from error
