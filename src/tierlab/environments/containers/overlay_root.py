"""A container's root: this host's, below an overlay that only the container's daemon sees."""

from __future__ import annotations

from tierlab.environments.daemons.own import OwnDaemon
from tierlab.environments.files import open_folder, remove_tree


class OverlayRoot:
    """The root of one domain; what is written to it is the domain's, and goes with it.

    The mount is in the mount namespace of `daemon`, so that it ends with the daemon at the latest.
    """

    def __init__(self, daemon: OwnDaemon, name: str) -> None:
        self.folder = daemon.folder / "roots" / name
        self.merged = self.folder / "merged"
        """Where the daemon finds it."""
        self._daemon = daemon

    def mount(self) -> None:
        """Make it."""
        upper, work = self.folder / "upper", self.folder / "work"
        for folder in (upper, work, self.merged):
            open_folder(folder)  # the root has the mode of `upper`
        options = f"lowerdir=/,upperdir={upper},workdir={work}"
        self._daemon.run("mount", "-t", "overlay", "-o", options, "overlay", str(self.merged))

    def remove(self) -> None:
        """Remove it, with what was written to it."""
        self._daemon.run("umount", "--lazy", str(self.merged))
        remove_tree(self.folder)
