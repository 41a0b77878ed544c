"""What each domain of Xen's takes, every three seconds.

By xentop(1) in domain 0; its disk, by what domain 0's kernel counts of the one behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tierlab.environments.accounts import Accounts, Rows
from tierlab.environments.guests import disk_counters
from tierlab.environments.guests.disk_counters import DiskCounters
from tierlab.environments.guests.process import GuestProcess
from tierlab.environments.removal import GRACE
from tierlab.environments.xen.host import XenHost
from tierlab.tables.clock import ClockReading
from tierlab.tables.schemas import SCHEMAS

SECONDS = 3
SECTOR = 512
MILLISECOND = 1_000_000
WORDS = 20
"""The time, and the 19 columns of xentop."""

_KEEP = """\
xentop -b -f -d "$1" | exec perl -MTime::HiRes=time -ne '
    BEGIN { $| = 1 }
    if (!/^ +NAME /) { print "$t $_"; next }
    $t = sprintf "%.0f", time * 1e9;
    open my $disks, "<", "/proc/diskstats";
    print map { "disk $t $_" } <$disks>;
' >"$2"
"""
"""xentop's own share of CPU is of the time since its last look; the sum that it gives is in whole
seconds. Its head comes first at each look, and gets the time; the kernel's counters of domain 0's
disks, which are what is behind the other domains', are read then too."""


class XenAccounts(Accounts):
    """Domain 0's books of all domains, its own among them."""

    subject = "Domain-0"

    def __init__(self, host: XenHost, folder: Path) -> None:
        self._host = host
        self._log = folder / "accounts.log"
        self._keeper: GuestProcess | None = None

    def open(self) -> None:
        """Have domain 0 write them down in a file that this host sees."""
        self._log.unlink(missing_ok=True)  # what earlier books left would be read until then
        self._keeper = self._host.start(_KEEP, [str(SECONDS), str(self._log)])

    def close(self) -> None:
        """End xentop."""
        if self._keeper is not None:
            self._keeper.stop(GRACE)
            self._keeper = None

    def read_clock(self) -> ClockReading:
        """Ask domain 0 for its time."""
        return self._host.read_clock()

    def tables(self) -> Mapping[str, Rows]:
        """Each domain, and each domain's disk, at each look but its first."""
        said = self._log.read_text() if self._log.exists() else ""
        return {
            "domain": rows(said),
            "hypervisor_disk": disk_counters.rows(disk_looks(said, self._host.disks)),
        }


def rows(said: str) -> Rows:
    """Rows of the table `domain` from what `_KEEP` wrote; lines that are cut are left out."""
    found: Rows = []
    before: dict[str, tuple[int, int, int]] = {}
    for line in said.splitlines(keepends=True):
        # A domain without a limit has "no limit" in place of its most memory.
        words = line.replace("no limit", "none").split()
        if len(words) != WORDS or not line.endswith("\n"):
            continue
        name = words[1]
        try:
            t_ns, share, memory = int(words[0]), float(words[4]), int(words[5])
            read, written = int(words[17]) * SECTOR, int(words[18]) * SECTOR
        except ValueError:
            continue  # of a domain that is being unmade xentop has no figures, but dashes
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


def disk_looks(said: str, disks: Mapping[str, str]) -> Iterator[tuple[int, str, DiskCounters]]:
    """Each domain's disk at each look; `disks`: what domain 0 calls it, and then the domain.

    The columns are those of https://docs.kernel.org/admin-guide/iostats.html, times in ms.
    """
    for line in said[: said.rfind("\n") + 1].splitlines():
        mark, *words = line.split()
        if mark != "disk" or words[3] not in disks:
            continue
        reads, _, sectors_read, read_ms, writes, _, sectors_written, write_ms = map(
            int, words[4:12]
        )
        yield (
            int(words[0]),
            disks[words[3]],
            DiskCounters(
                reads=reads,
                writes=writes,
                bytes_read=sectors_read * SECTOR,
                bytes_written=sectors_written * SECTOR,
                read_time_ns=read_ms * MILLISECOND,
                write_time_ns=write_ms * MILLISECOND,
            ),
        )
