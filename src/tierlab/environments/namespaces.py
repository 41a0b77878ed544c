"""Network namespaces of this host's other processes (network_namespaces(7)): a container's."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil

from tierlab.machine.kernel_files import read_text

OWN = Path("/proc/self")


def network_with(address: str) -> Path | None:
    """The folder of kernel tables (proc_pid_net(5)) of the one other network that has an IPv4
    address; None where none has it, as far as this user may know, or several have.
    """
    found = [each for each in _networks() if address in _addresses(each)]
    return found[0] if len(found) == 1 else None


def _networks() -> Iterator[Path]:
    """One process's tables for each network but this process's own."""
    known = {_number(OWN)}
    for pid in psutil.pids():
        process = Path(f"/proc/{pid}")
        number = _number(process)
        if number is not None and number not in known:
            known.add(number)
            yield process / "net"


def _number(process: Path) -> int | None:
    try:
        return (process / "ns" / "net").stat().st_ino
    except OSError:  # it has ended, or is another user's
        return None


def _addresses(net: Path) -> set[str]:
    """Those of its own interfaces: a leaf of the trie of routes and, below it, what it is for."""
    lines = (read_text(net / "fib_trie") or "").splitlines()
    return {leaf.split()[-1] for leaf, kind in pairwise(lines) if kind.strip() == "/32 host LOCAL"}
