"""runc, the runtime below podman and Docker: whether it runs here, and the control groups it makes.

It makes a container's group in every tree that is mounted, those among them that Tierlab has no
use for (devices, freezer, systemd's); and leaves the trial's group above it behind.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tierlab.environments.cgroups.cgroup import trial_group
from tierlab.environments.launching import last_words
from tierlab.environments.ledger import Ledger
from tierlab.machine.control_groups import roots
from tierlab.machine.programs import SYSTEM_PATH

PROBE_SECONDS = 10.0


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


def runtime_fault() -> str | None:
    """Say why runc cannot be run; None if it can."""
    command = ["runc", "--version"]
    try:
        done = subprocess.run(
            command,
            env={"PATH": SYSTEM_PATH},
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"'runc --version' cannot be run ({error})"
    return None if done.returncode == 0 else f"'runc --version' fails ({last_words(done.stderr)})"
