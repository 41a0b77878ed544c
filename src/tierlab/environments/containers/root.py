"""What a container sees of this host: the file system of ``/``, and no other.

An overlay does not cross mounts: where another file system is mounted below ``/``, the container
has an empty folder. Source: Documentation/filesystems/overlayfs.rst of the Linux kernel.
"""

from __future__ import annotations

from pathlib import Path

from tierlab.environments.mounts import mount_of


def obstacle(program: Path) -> str | None:
    """Say why a program of this host is not to be seen in a container; None if it is."""
    mount = mount_of(program)
    if mount == Path("/"):
        return None
    return f"{program} lies on {mount}, a mount that a container's view of / does not show"
