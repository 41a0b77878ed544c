"""What a hypervisor says of a domain's disk, against what the kernel inside says of it."""

from __future__ import annotations

from tests.figures import figure
from tests.pace import wait_until
from tierlab.environments.accounts import Accounts, Rows
from tierlab.environments.guests.domain import GuestDomain

WRITES, SIZE = 40, 64 << 10
LOOK_SECONDS = 60.0
"""By when each hypervisor has looked again."""


def agree(domain: GuestDomain, accounts: Accounts, disk: str) -> None:
    """Write to the domain's folder ``data``, which is on that disk."""
    # The kernel inside is asked first and last: its file system writes by itself now and then.
    before = counted(domain, disk)
    accounts.open()
    name = f"{domain.spec.name}/{disk}"
    rows(accounts, name, 1)
    write = f"dd if=/dev/zero of=data/written bs={SIZE} count={WRITES} oflag=direct"
    assert domain.run(["sh", "-c", write], timeout=120).status == 0
    # One look may be amid the writes.
    found = rows(accounts, name, len(rows(accounts, name, 1)) + 2)
    accounts.close()
    requests, written, took_s = (
        now - then for now, then in zip(counted(domain, disk), before, strict=True)
    )
    below = sum(row["bytes_written"] for row in found)
    assert WRITES * SIZE <= below <= written, (below, written)
    # Below, a request may be several: Xen's domains have room for 44 KiB in one.
    below_s = sum(row["write_time_ns"] for row in found) / 1e9 / sum(row["writes"] for row in found)
    assert 0 < below_s <= 1.2 * took_s / requests + 0.001  # counted in whole milliseconds
    figure(f"a write takes {1e3 * took_s / requests:.2f} ms inside, {1e3 * below_s:.2f} ms below")


def rows(accounts: Accounts, name: str, at_least: int) -> Rows:
    """Those of one disk, once there are so many."""

    def found() -> Rows:
        return [row for row in accounts.tables()["hypervisor_disk"] if row["subject"] == name]

    wait_until(lambda: len(found()) >= at_least, "a look at the disk", LOOK_SECONDS, nap=0.5)
    return found()


def counted(domain: GuestDomain, disk: str) -> tuple[int, int, float]:
    """Writes, bytes written and seconds by the kernel inside.

    See https://docs.kernel.org/block/stat.html.
    """
    words = domain.run(["cat", f"/sys/block/{disk}/stat"], timeout=60).stdout.split()
    return int(words[4]), int(words[6]) * 512, int(words[7]) / 1e3
