"""What servers start from and is the same for many trials: made once, and kept in a cache.

It is made in a domain of its own, in the trial's own folder, and appears in the cache by a rename:
what is half made is never taken for whole, and two trials may make the same at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tierlab import installation
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.files import AT_ONCE, copy_tree, remove_tree
from tierlab.errors import UserError
from tierlab.servers.disk import need_room, size

KEPT_SECONDS = 3 * 86_400


@dataclass(frozen=True)
class Sort:
    """A sort of things that are made once."""

    name: str
    """Of the domain that one is made in."""
    words: str
    """What it is, such as ``seed data``."""
    building_bytes: int
    """The room that making a usual one takes."""


def cache_folder(kind: str) -> Path:
    """``$XDG_CACHE_HOME/tierlab/<kind>``, by default below ``~/.cache``. `kind`: the server's."""
    return installation.cache(kind)


def made_once(
    environment: Environment, sort: Sort, folder: Path, make: Callable[[Domain], Path]
) -> Path:
    """Return the cached `folder`, made if it is not there: `make` says where in the domain it is.

    Raises `UserError` where it cannot be made, or not be kept.
    """
    if folder.exists():
        os.utime(folder)
        return folder
    prune(folder.parent)
    need_room(environment.work, sort.building_bytes, f"making the {sort.words}")
    domain = environment.create_here(DomainSpec(sort.name))
    domain.start()
    try:
        _keep(environment, sort, make(domain), folder)
    finally:
        domain.destroy()
    return folder


def prune(cache: Path) -> None:
    """Throw away what no trial has used for days: data is dated, so it never fits again."""
    oldest = time.time() - KEPT_SECONDS
    for folder in cache.glob("*"):
        with suppress(FileNotFoundError):  # another trial prunes at the same time
            if folder.stat().st_mtime < oldest:
                remove_tree(folder)


def _keep(environment: Environment, sort: Sort, made: Path, folder: Path) -> None:
    """Move a folder into the cache, complete or not at all."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder.parent}: cannot keep {sort.words} there ({error.strerror});"
            " set XDG_CACHE_HOME."
        ) from error
    with environment.scratch(folder.with_name(f".{folder.name}.{environment.trial}")) as partial:
        need_room(partial, size(made), f"keeping the {sort.words}")
        copy_tree(made, partial / made.name)
        _flush(partial)
        try:
            (partial / made.name).rename(folder)
            os.utime(folder)
        except OSError:
            if not folder.exists():  # else another trial was quicker with the same
                raise
            remove_tree(partial / made.name)


def _flush(folder: Path) -> None:
    """Write files to the disk: after a power failure a name may be there before its contents."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(_flush_file, files))


def _flush_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
