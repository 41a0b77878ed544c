"""The network namespace of a trial: loopback only, no way out, sysctls of its own.

An open descriptor of this process holds it. It has no name in a file system: one in /run/netns
would be below the mount that ``ip netns add`` makes there, and could not be removed any more. The
kernel removes the namespace once the descriptor is closed and the last process in it has ended, so
nothing is left of a trial that was killed. Programs enter it by nsenter(1): ``ip netns exec`` would
hide the control groups.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from tierlab.errors import UserError
from tierlab.machine.kernel_calls import CLONE_NEWNET, in_own_thread, setns, unshare

OWN = Path("/proc/thread-self/ns/net")
"""The network namespace of the thread that opens it."""

T = TypeVar("T")


class Namespace:
    """A network namespace that exists, at a path by which every process of root's can open it."""

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

        def join_and_work() -> T:
            namespace = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                setns(namespace)
            finally:
                os.close(namespace)
            return work()

        return in_own_thread(join_and_work)

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
            raise UserError(
                "system.environment: cannot take all addresses in the trial's network (ip route:"
                f" {made.stderr.strip()}); 'tierlab doctor' says what this machine allows."
            )


class HeldNamespace(Namespace):
    """One that a descriptor of this process holds; see `create`."""

    def __init__(self, descriptor: int) -> None:
        # By this process's number: who enters it is another process.
        super().__init__(Path(f"/proc/{os.getpid()}/fd/{descriptor}"))
        self._descriptor = descriptor

    def close(self) -> None:
        """Let the kernel remove it, with all in it, once no process is in it; twice is no error."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def create(sysctls: Mapping[str, int]) -> HeldNamespace:
    """Make the namespace of a trial, bring its loopback up and set its sysctls.

    `sysctls` by their dotted names (``net.core.somaxconn``). They belong to the namespace alone
    and go with it.
    """
    return HeldNamespace(in_own_thread(lambda: _made(sysctls)))


def _made(sysctls: Mapping[str, int]) -> int:
    """Take the calling thread to a new namespace, and return a descriptor of it."""
    try:
        unshare(CLONE_NEWNET)
    except OSError as error:
        raise _refused(str(error.strerror)) from error
    # Its loopback by `ip`, not by netlink's library: that takes longer to load than all else here.
    up = ["ip", "link", "set", "lo", "up"]
    done = subprocess.run(up, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise _refused(done.stderr.strip())
    _set_sysctls(sysctls)
    return os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)


def _refused(reason: str) -> UserError:
    return UserError(
        f"system.environment: cannot make the trial's network namespace ({reason});"
        " 'tierlab doctor' says what this machine allows."
    )


def _set_sysctls(sysctls: Mapping[str, int]) -> None:
    for name, value in sysctls.items():
        path = Path("/proc/sys", *name.split("."))
        try:
            path.write_text(str(value))
        except OSError as error:
            raise UserError(
                f"sysctl {name} = {value}: the kernel refuses it ({error.strerror})."
            ) from error
