"""What one guest is, beyond what all of its shape are: told to it once it takes commands.

Until then it has no name, address or folder of the host's, so that one that has booted can be kept
and restored as any other.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from tierlab.environments.guests.agent import AgentSilentError, GuestAgent
from tierlab.environments.guests.remote_process import SHELL
from tierlab.environments.guests.words import Link
from tierlab.errors import UserError

SECONDS = 120.0
SEED_BYTES = 32
"""As much as the kernel's generator of random numbers can hold."""

_CONFIGURE = resources.files(__package__).joinpath("configure.sh").read_text()


@dataclass(frozen=True)
class Configuration:
    """Of one guest."""

    name: str
    folder: Path
    """Shared with the guest, at the same path."""
    user: int
    """User id of the servers' programs."""
    bus: str
    """By which the shared folder comes: ``virtio`` or ``xen``."""
    disk: str
    """What it calls its own disk, if it has one: ``/dev/vdb``."""
    disk_folders: Sequence[str] = ()
    """Which folders in `folder` lie on that."""
    link: Link | None = None
    sysctls: Mapping[str, int] = field(default_factory=dict)

    def apply(self, agent: GuestAgent) -> None:
        """Tell it, with the time and a seed for its random numbers; `UserError` if it fails."""
        try:
            done = agent.run([SHELL, "-c", _CONFIGURE], SECONDS, self._variables())
        except AgentSilentError as error:
            raise UserError(
                f"{self.name}: its guest does not answer any more ({error})."
            ) from error
        if done is None or done.status != 0:
            said = f"no end within {SECONDS:g} seconds" if done is None else done.stderr.strip()
            raise UserError(f"{self.name}: its guest cannot be configured: {said}.")

    def _variables(self) -> dict[str, str]:
        found = {
            "name": self.name,
            "folder": str(self.folder),
            "user": str(self.user),
            "bus": self.bus,
            "disk": self.disk,
            "disk_folders": ",".join(self.disk_folders),
            "sysctls": " ".join(f"{name}={value}" for name, value in self.sysctls.items()),
            "seed": secrets.token_hex(SEED_BYTES),
        }
        if self.link is not None:
            found |= {
                "address": self.link.address,
                "gateway": self.link.gateway,
                "mac": self.link.mac,
            }
        found["time"] = f"{time.time():.3f}"
        return {f"guest_{name}": value for name, value in found.items()}
