"""Who listens at this host's TCP ports: every process that holds a socket there (proc_pid_net(5)).

psutil gives each socket one process: of a server's workers, which share theirs, the last.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

import psutil

ANY = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1"}
"""Addresses that stand for all, each with the one by which it is asked."""

MANAGER = "systemd"
"""What opens services' sockets for them and keeps them open (systemd.socket(5))."""

NET = Path("/proc/net")
"""The kernel's tables of this process's own network."""

TABLES = ("tcp", "tcp6")
LISTENS = "0A"
"""State of a socket that accepts connections."""


@dataclass(frozen=True, order=True)
class Listener:
    """A process that holds a socket at which connections are accepted."""

    address: str
    port: int
    pid: int
    program: str
    """The process's name, in the kernel's 15 letters."""
    descriptor: Path
    inode: int

    def is_there(self) -> bool:
        """Whether the process has that very socket still."""
        return _inode(self.descriptor) == self.inode


def listeners(port: int | None = None, net: Path = NET) -> list[Listener]:
    """All at a port of a network, or at any, of which this user may know: root of all.

    A service's socket that systemd has too is the service's.
    """
    sockets = {inode: (at, its) for inode, at, its in _sockets(net) if port in (None, its)}
    if not sockets:
        return []
    held = [each for pid in psutil.pids() for each in _held(pid, sockets)]
    services = {each.inode for each in held if each.program != MANAGER}
    return sorted(e for e in held if e.program != MANAGER or e.inode not in services)


def listeners_at(address: str, port: int, net: Path = NET) -> list[Listener]:
    """Those that connections to an address reach, if it is one of this network's."""
    return [each for each in listeners(port, net) if each.address in (address, *ANY)]


def _sockets(net: Path) -> Iterator[tuple[int, str, int]]:
    """Inode, address and port of each that accepts connections."""
    for table in TABLES:
        try:
            _, *lines = (net / table).read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):  # no IPv6; a network that is gone
            continue
        for fields in map(str.split, lines):
            if fields[3] == LISTENS:
                yield int(fields[9]), *_place(fields[1])


def _place(text: str) -> tuple[str, int]:
    """Address and port of `0100007F:1F90`: words of four bytes, each in this machine's order."""
    words, _, port = text.partition(":")
    starts = range(0, len(words), 8)
    each = (int(words[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in starts)
    address = ip_address(b"".join(each))
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address), int(port, 16)


def _held(pid: int, sockets: Mapping[int, tuple[str, int]]) -> Iterator[Listener]:
    process = Path(f"/proc/{pid}")
    try:
        program = (process / "comm").read_text(errors="replace").rstrip("\n")
        descriptors = list((process / "fd").iterdir())
    except OSError:  # it has ended, or is another user's
        return
    for descriptor in descriptors:
        inode = _inode(descriptor)
        if inode is not None and inode in sockets:
            address, port = sockets[inode]
            yield Listener(address, port, pid, program, descriptor, inode)


def _inode(descriptor: Path) -> int | None:
    """The socket's that it is open for; None of another, or if it is closed."""
    try:
        kind, _, number = str(descriptor.readlink()).partition(":")
    except OSError:
        return None
    return int(number.strip("[]")) if kind == "socket" else None
