"""Addresses of UNIX sockets (unix(7)): a path, or "@" and a name in the abstract space."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from tierlab.errors import UserError

LONGEST = 107
"""Bytes of a path that a program can bind (unix(7): sun_path has 108 with the zero at its end)."""


def check_length(server: str, path: str | None) -> None:
    """Raise `UserError` if the path is too long for the kernel."""
    if path is not None and (length := len(os.fsencode(path))) > LONGEST:
        raise UserError(
            f"{server}: the path of its socket, {path}, has {length} bytes, and the kernel takes"
            f" {LONGEST}; give the experiment or the socket a shorter name."
        )


def connect(link: socket.socket, path: str) -> None:
    """Connect to a socket. A path that is too long is reached by its folder's descriptor."""
    if path.startswith("@"):
        link.connect("\0" + path[1:])
        return
    if len(os.fsencode(path)) <= LONGEST:
        link.connect(path)
        return
    place = Path(path)
    folder = os.open(place.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        link.connect(f"/proc/self/fd/{folder}/{place.name}")
    finally:
        os.close(folder)
