"""The disk of a guest's own: an ext4 file system in a sparse file.

Some folders of a domain's folder lie on it. What this host brings there, or takes from there, goes
by way of the share.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tierlab.errors import UserError

SIZE = 16 << 30
"""Bytes; only what the guest writes takes room."""


def make_disk(path: Path) -> None:
    """Make it, empty."""
    with path.open("wb") as file:
        file.truncate(SIZE)
    done = subprocess.run(
        ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"{path}: mkfs.ext4 fails: {done.stderr.strip()}.")


STAGE = ".stage"
"""In the domain's folder: where files wait that go to the disk, or come from it."""


@dataclass(frozen=True)
class DiskFolders:
    """The folders of a domain's folder that lie on its guest's disk."""

    folder: Path
    """The domain's."""
    names: Sequence[str]
    as_root: Callable[[Sequence[str]], None]
    """Runs a command as root of the guest."""

    def hold(self, name: str) -> bool:
        """Whether a name in the domain's folder is on the disk."""
        return bool(Path(name).parts) and Path(name).parts[0] in self.names

    def bring_in(self, staged: Path, name: str) -> Path:
        """Move what waits in the share to its place on the disk."""
        target = self.folder / name
        whole = name in self.names
        self.as_root(["cp", "-a", f"{staged}/." if whole else str(staged), str(target)])
        shutil.rmtree(self.folder / STAGE)
        return target

    @contextmanager
    def brought_out(self, name: str) -> Iterator[Path]:
        """A copy in the share of what is on the disk."""
        stage = self.folder / STAGE
        stage.mkdir()
        try:
            self.as_root(["cp", "-a", str(self.folder / name), str(stage)])
            yield stage / Path(name).name
        finally:
            shutil.rmtree(stage)
