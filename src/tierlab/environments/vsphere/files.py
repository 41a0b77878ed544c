"""Files in a virtual machine: carried packed, since guest operations carry single files alone."""

from __future__ import annotations

import io
import tarfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from tierlab.environments.files import copy_tree
from tierlab.environments.guests.remote_process import SHELL
from tierlab.environments.native.host import SERVER_USER
from tierlab.environments.vsphere.guest import GuestAbsentError, GuestOperations
from tierlab.environments.vsphere.process import COMMAND_SECONDS

_FOLDER = 'install -d -o "$2" -g "$(id -g "$2")" "$1"'
_UNPACK = """\
set -e
packed=$1 path=$2 user=$3
install -d -o "$user" -g "$(id -g "$user")" "${path%/*}"
tar -xf "$packed" -C "${path%/*}"
chown -R "$user:" "$path"
rm "$packed"
"""


class GuestFiles:
    """The files of one domain, by their names in its folder."""

    def __init__(self, guest: GuestOperations, folder: Path, work: Path) -> None:
        """`folder`: in the guest. `work`: on this host, for what is on its way."""
        self._guest = guest
        self._folder = folder
        self._work = work

    def put(self, source: Path, name: str) -> Path:
        """Copy a file or a tree into the guest, packed."""
        with TemporaryFile(dir=self._work) as packed:
            with tarfile.open(fileobj=packed, mode="w") as archive:
                archive.add(source.resolve(), Path(name).name)  # a link is nothing in the guest
            return self._unpack(packed, name)

    def write(self, name: str, text: str) -> Path:
        """Write a text file."""
        content = text.encode()
        head = tarfile.TarInfo(Path(name).name)
        head.size, head.mode, head.mtime = len(content), 0o644, time.time()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.addfile(head, io.BytesIO(content))
        return self._unpack(packed, name)

    def make_folder(self, name: str) -> Path:
        """Make a folder in the folder."""
        path = self._folder / name
        self._guest.do([SHELL, "-c", _FOLDER, "folder", str(path), SERVER_USER])
        return path

    def get(self, name: str, target: Path) -> None:
        """Copy a file or a tree out of the guest, packed."""
        guest, path = self._guest, self._folder / name
        passing = guest.passing()
        guest.do(["tar", "-cf", str(passing), "-C", str(path.parent), path.name])
        with TemporaryDirectory(dir=self._work) as folder, TemporaryFile(dir=self._work) as packed:
            guest.download(passing, packed)
            packed.seek(0)
            with tarfile.open(fileobj=packed) as archive:
                archive.extractall(folder, filter="data")
            copy_tree(Path(folder, path.name), target)
        guest.do(["rm", str(passing)])

    def has(self, name: str) -> bool:
        """Look."""
        try:
            return self._guest.succeeds(["test", "-e", str(self._folder / name)], COMMAND_SECONDS)
        except GuestAbsentError:
            return False

    def text(self, name: str) -> str | None:
        """Read it."""
        try:
            done = self._guest.run(["cat", str(self._folder / name)], COMMAND_SECONDS)
        except GuestAbsentError:
            return None
        return done.stdout if done is not None and done.status == 0 else None

    def _unpack(self, packed: IO[bytes], name: str) -> Path:
        path, passing, size = self._folder / name, self._guest.passing(), packed.tell()
        packed.seek(0)
        self._guest.upload(packed, size, passing)
        self._guest.do([SHELL, "-c", _UNPACK, "unpack", str(passing), str(path), SERVER_USER])
        return path
