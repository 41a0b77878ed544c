"""Control groups that the container's runtime makes, in the ledger before it does.

runc makes a container's group in every tree that is mounted, those among them that Tierlab has no
use for (devices, freezer, systemd's); and leaves the trial's group above it behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tierlab.environments.cgroup import trial_group
from tierlab.environments.ledger import Ledger
from tierlab.machine.control_groups import roots


@contextmanager
def announced(ledger: Ledger, name: str) -> Iterator[None]:
    """List group `name` of the trial in every tree while it is made; then what came to be."""
    entries = []
    for root in roots():
        above = root / trial_group(ledger.trial)
        if not above.exists():
            entries.append(ledger.add("cgroup", path=str(above)))
        entries.append(ledger.add("cgroup", path=str(above / name)))
    yield
    for entry in entries:
        path = Path(str(entry.what["path"]))
        if path.exists():
            ledger.amend(entry, inode=path.stat().st_ino)
        else:
            ledger.strike(entry)
