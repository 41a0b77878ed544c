"""Files of a trial on this host."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from tierlab.environments.ledger import Entry, Ledger
from tierlab.errors import UserError

AT_ONCE = 8
"""So many files are removed, or written to the disk, at once. Each waits for the device: for 3.4 ms
in a virtual machine, where eight at a time took 0.1. What is removed does where a file system has
no journal and gives free blocks back (mount option `discard`)."""


def copy_tree(source: Path, target: Path) -> None:
    """Copy a file or a tree, sharing blocks where the file system can.

    If `source` is a link, what it leads to is copied; links below it stay links.
    """
    copied = subprocess.run(
        ["cp", "-RH", "--preserve=mode,timestamps", "--reflink=auto", str(source), str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if copied.returncode != 0:
        raise UserError(f"cannot copy {source} to {target}: {copied.stderr.strip()}.")


def remove_tree(path: Path) -> None:
    """Remove a folder with all in it, as `shutil.rmtree` does: what a link leads to stays."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # By descriptor: whoever may write in it could put a link in a folder's place meanwhile.
        for _, _, files, folder in os.fwalk(path, topdown=False):
            list(pool.map(partial(_remove_file, folder), files))
    shutil.rmtree(path)


def _remove_file(folder: int, name: str) -> None:
    with suppress(OSError):  # what stays is told when the folder is to go
        os.unlink(name, dir_fd=folder)


def open_folder(path: Path) -> None:
    """Have a folder; what is made of it and of those above it everybody may enter, whatever the
    umask of this process.
    """
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in made:
        folder.chmod(0o755)


def make_folder(ledger: Ledger, path: Path, kind: str = "folder", mode: int = 0o755) -> Entry:
    """Make a folder of the trial's, in the ledger first; `UserError` if it is there already.

    `kind`: as what the ledger lists it.
    """
    entry = ledger.add(kind, path=str(path))
    try:
        path.mkdir(mode=mode)
        path.chmod(mode)  # else it would lack what the umask of this process takes away
    except OSError as error:
        ledger.strike(entry)
        raise UserError(
            f"{path}: cannot make the trial's folder ({error.strerror}); {_remedy(error)}."
        ) from error
    ledger.amend(entry, inode=path.stat().st_ino)
    return entry


def share_folder(ledger: Ledger, path: Path) -> None:
    """Have a folder that programs of any trial use; the last one to end removes it, if empty.

    One that was there before any trial stays.
    """
    if not path.exists() or ledger.others_list("empty folder", path=str(path)):
        ledger.add("empty folder", path=str(path))
        _have(path)


def share_mount_point(ledger: Ledger, path: Path) -> None:
    """Have a folder to mount something on where nobody else sees it; it goes as a shared one does.

    Whoever removed it would take the mount away too, so a mark in it, named after the trial, keeps
    it. One with nothing but marks is the trials', whichever ledgers they have.
    """
    names = [entry.name for entry in path.iterdir()] if path.exists() else ["tierlab-"]
    if names and all(name.startswith("tierlab-") for name in names):
        ledger.add("empty folder", path=str(path))
    mark = path / f"tierlab-{ledger.trial}"
    ledger.add("empty folder", path=str(mark))
    _have(mark)


def _have(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{path}: cannot make the folder ({error.strerror}); {_remedy(error)}."
        ) from error


def _remedy(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "make room on its file system"
    if error.errno == errno.EEXIST:
        return "remove it, unless a trial uses it"
    return "'tierlab doctor' says what this machine allows"
