"""The disk of a guest's own: an ext4 file system in a sparse file.

Some folders of a domain's folder lie on it, or the folder as a whole. What this host brings there,
or takes from there, goes by way of a share, in which it waits.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
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
WHOLE = "."
"""Stands for the domain's folder as a whole."""


def pack(tree: Path, called: str) -> Path:
    """Pack a tree into a file beside it, as a tree of that name.

    A database's files are mostly zeros, and what a guest reads of a share is slow.
    """
    packed = tree.with_name(f"{tree.name}.tar.gz")
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        archive.add(tree, called)
    return packed


AsRoot = Callable[[Sequence[str]], None]
"""Runs a command as root of the guest; `UserError` if it fails."""


@dataclass(frozen=True)
class DiskFolders:
    """The folders of a domain's folder that lie on its guest's disk, beside what is shared."""

    folder: Path
    """The domain's."""
    names: Sequence[str]
    as_root: AsRoot

    def hold(self, name: str) -> bool:
        """Whether a name in the domain's folder is on the disk."""
        return bool(Path(name).parts) and Path(name).parts[0] in self.names

    def bring_in(self, staged: Path, name: str) -> Path:
        """Move what waits in the share to its place on the disk."""
        target = self.folder / name
        if staged.is_dir():
            into, called = (target, ".") if name in self.names else (target.parent, target.name)
            packed = pack(staged, called)
            self.as_root(["tar", "-xzf", str(packed), "--numeric-owner", "-C", str(into)])
        else:
            self.as_root(["cp", "-a", str(staged), str(target)])
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


_COPY = """\
mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=none "$1" "$2" || exit
mkdir -p "${4%/*}" && cp -a "$3" "$4" && chown --reference="$4" "${4%/*}"
status=$?
umount "$2" && exit $status
"""
"""Mounts share $1 at $2 while it copies $3 to $4, whose folder belongs to whom that belongs to."""


@dataclass(frozen=True)
class WholeDisk(DiskFolders):
    """A domain's folder that lies on its guest's disk as a whole.

    The share is but the stage, and the guest has it mounted only while something is copied: QEMU
    moves no guest that has one mounted.
    """

    tag: str
    """The share's."""

    def hold(self, name: str) -> bool:  # noqa: ARG002 - whatever the name
        """All is there."""
        return True

    def bring_in(self, staged: Path, name: str) -> Path:
        """Move what waits in the share to its place on the disk."""
        target = self.folder / name
        with self._stage():
            self._copy(staged, target)
        return target

    @contextmanager
    def brought_out(self, name: str) -> Iterator[Path]:
        """A copy in the share of what is on the disk."""
        with self._stage() as stage:
            copy = stage / Path(name).name
            self._copy(self.folder / name, copy)
            yield copy

    @contextmanager
    def _stage(self) -> Iterator[Path]:
        """The stage, which is empty afterwards; it is the share's root, and stays."""
        stage = self.folder / STAGE
        try:
            yield stage
        finally:
            for left in stage.iterdir():
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()

    def _copy(self, source: Path, target: Path) -> None:
        stage = self.folder / STAGE
        self.as_root(["sh", "-c", _COPY, "copy", self.tag, *map(str, (stage, source, target))])
