"""What each domain of Xen's takes, every three seconds, by xentop(1) in domain 0."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tierlab.environments.accounts import Accounts
from tierlab.environments.xen_host import XenHost
from tierlab.tables.clock import ClockReading
from tierlab.tables.schemas import SCHEMAS

SECONDS = 3
SECTOR = 512
WORDS = 20
"""The time, and the 19 columns of xentop."""
ROUND_TRIPS = 8

_KEEP = """\
xentop -b -f -d "$1" | exec perl -MTime::HiRes=time -ne '
    BEGIN { $| = 1 }
    if (/^ +NAME /) { $t = sprintf "%.0f", time * 1e9 } else { print "$t $_" }
' >"$2"
"""
"""xentop's own share of CPU is of the time since its last look; the sum that it gives is in whole
seconds. Its head comes first at each look, and gets the time."""


class XenAccounts(Accounts):
    """Domain 0's books of all domains, its own among them."""

    subject = "Domain-0"

    def __init__(self, host: XenHost, folder: Path) -> None:
        self._host = host
        self._log = folder / "accounts.log"

    def open(self) -> None:
        """Have domain 0 write them down in a file that this host sees."""
        self._host.start(_KEEP, [str(SECONDS), str(self._log)])

    def read_clock(self) -> ClockReading:
        """Ask domain 0 for its time; of several answers the quickest counts."""
        return min((self._ask() for _ in range(ROUND_TRIPS)), key=lambda read: read.uncertainty_ns)

    def _ask(self) -> ClockReading:
        asked_ns, began = time.time_ns(), time.monotonic_ns()
        told_ns = int(self._host.run("date +%s%N"))
        half_ns = (time.monotonic_ns() - began) // 2
        at_ns = asked_ns + half_ns
        return ClockReading(at_ns=at_ns, offset_ns=at_ns - told_ns, uncertainty_ns=half_ns + 1)

    def rows(self) -> list[dict[str, Any]]:
        """Each domain at each look but its first."""
        return rows(self._log.read_text() if self._log.exists() else "")


def rows(said: str) -> list[dict[str, Any]]:
    """Rows of the table `domain` from what `_KEEP` wrote; lines that are cut are left out."""
    found: list[dict[str, Any]] = []
    before: dict[str, tuple[int, int, int]] = {}
    for line in said.splitlines(keepends=True):
        # A domain without a limit has "no limit" in place of its most memory.
        words = line.replace("no limit", "none").split()
        if len(words) != WORDS or not line.endswith("\n"):
            continue
        t_ns, name, share, memory = int(words[0]), words[1], float(words[4]), int(words[5])
        read, written = int(words[17]) * SECTOR, int(words[18]) * SECTOR
        if name in before:
            since_ns, read_before, written_before = before[name]
            dt_ns = t_ns - since_ns
            found.append(
                dict.fromkeys(SCHEMAS["domain"].names)
                | {
                    "t_ns": t_ns,
                    "dt_ns": dt_ns,
                    "subject": name,
                    "cpu_ns": round(share / 100 * dt_ns),
                    "memory": memory * 1024,
                    "bytes_read": read - read_before,
                    "bytes_written": written - written_before,
                }
            )
        before[name] = (t_ns, read, written)
    return found
