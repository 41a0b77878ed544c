"""The kernel's table of UNIX stream sockets, with each one's peer (linux/unix_diag.h).

/proc/net/unix has no peers. The kernel lists the sockets of one network namespace; a socket that a
server accepts is in the namespace of its client, under the path that the server has bound.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tierlab.environments.network.netns import Namespace

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
DUMP = 0x301
"""NLM_F_REQUEST and NLM_F_DUMP."""
ERROR, DONE = 2, 3
ALL_STATES = 0xFFFF_FFFF
SHOW_NAME, SHOW_PEER, SHOW_QUEUE = 1, 4, 16
NAME, PEER, QUEUE = 0, 2, 4
"""Kinds of attribute."""
LISTENS = 10
HEADER = struct.Struct("=IHHII")
REQUEST = struct.Struct("=BBHIIIII")
MESSAGE = struct.Struct("=BBBBIII")
ATTRIBUTE = struct.Struct("=HH")
PART_BYTES = 1 << 16
TIMEOUT_S = 5.0


@dataclass(frozen=True)
class UnixSocket:
    """One UNIX stream socket."""

    inode: int
    name: str | None
    """The path as bound, "@" and a name in the abstract space; None of one without a name."""
    peer: int | None
    """The inode of the socket at the other end; None where there is none."""
    listens: bool
    waiting: int
    """Of one that listens: connections that wait to be accepted."""


class Table:
    """Asks the kernel for the sockets of one network namespace; to be closed."""

    def __init__(self, process: Path = Path("/proc/self")) -> None:
        """`process`: any that is in the namespace. OSError where the kernel cannot tell."""
        kind = (socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
        namespace = process / "ns" / "net"
        is_own = namespace.stat().st_ino == Path("/proc/self/ns/net").stat().st_ino
        self._link = socket.socket(*kind) if is_own else Namespace(namespace).socket(*kind)
        self._link.settimeout(TIMEOUT_S)

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the way to the kernel."""
        self._link.close()

    def sockets(self) -> list[UnixSocket]:
        """All stream sockets as they are now; OSError where the kernel cannot tell."""
        show = SHOW_NAME | SHOW_PEER | SHOW_QUEUE
        request = REQUEST.pack(socket.AF_UNIX, 0, 0, ALL_STATES, 0, show, 0, 0)
        size = HEADER.size + len(request)
        self._link.send(HEADER.pack(size, SOCK_DIAG_BY_FAMILY, DUMP, 0, 0) + request)
        found: list[UnixSocket] = []
        while True:
            for kind, body in _messages(self._link.recv(PART_BYTES)):
                if kind == DONE:
                    return found
                if kind == ERROR:
                    number = -struct.unpack_from("=i", body)[0]
                    raise OSError(number, os.strerror(number))
                found += _read(body)


def _messages(part: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + HEADER.size <= len(part):
        size, kind, *_ = HEADER.unpack_from(part, at)
        yield kind, part[at + HEADER.size : at + size]
        at += _aligned(size)


def _read(body: bytes) -> Iterator[UnixSocket]:
    _, kind, state, _, inode, *_ = MESSAGE.unpack_from(body)
    if kind != socket.SOCK_STREAM:
        return
    attributes = dict(_attributes(body[MESSAGE.size :]))
    peer, queue = attributes.get(PEER), attributes.get(QUEUE)
    yield UnixSocket(
        inode,
        _name(attributes.get(NAME)),
        None if peer is None else struct.unpack("=I", peer)[0] or None,
        state == LISTENS,
        0 if queue is None else struct.unpack_from("=I", queue)[0],
    )


def _attributes(text: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + ATTRIBUTE.size <= len(text):
        size, kind = ATTRIBUTE.unpack_from(text, at)
        yield kind, text[at + ATTRIBUTE.size : at + size]
        at += max(_aligned(size), ATTRIBUTE.size)


def _name(text: bytes | None) -> str | None:
    if not text:
        return None
    if text.startswith(b"\0"):
        return "@" + os.fsdecode(text[1:]).replace("\0", "@")
    return os.fsdecode(text.rstrip(b"\0"))


def _aligned(size: int) -> int:
    return (size + 3) & ~3
