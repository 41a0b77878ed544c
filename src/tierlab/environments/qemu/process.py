"""Which processes of this host are a guest's hypervisor, whoever keeps it."""

from __future__ import annotations

from pathlib import Path

import psutil

from tierlab.environments.identity import carrying


def hypervisors(token: str, identity: str) -> list[int]:
    """List them, by the ledger's token and by what libvirt calls the guest."""
    word = f"guest={identity},"
    return [pid for pid in carrying(psutil.pids(), token) if _has(pid, word)]


def _has(pid: int, word: str) -> bool:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return False
    return any(each.startswith(word) for each in line.split("\0"))
