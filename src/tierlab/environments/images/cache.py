"""The images that this machine keeps: which there are, which are used, and dropping the others.

Another version of Tierlab has other recipes, and so other images. Nobody drops one unasked: another
checkout on this machine may be of that version.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass

from tierlab.environments.images.image import RECIPES, Image, cache_folder, find, unbuilt
from tierlab.environments.ledger import Ledger
from tierlab.environments.removal import remove_listed
from tierlab.environments.snapshots import shelf
from tierlab.errors import UserError

_HELD: list[int] = []
"""Open files whose locks end with this process, however it ends."""


@dataclass(frozen=True)
class Kept:
    """An image in the cache. `names`: of the recipes of this version that it is of."""

    image: Image
    names: tuple[str, ...]
    size: int
    """Bytes, with its snapshots."""
    snapshots: int
    """How many machines that booted from it can be restored."""
    used: float
    """When a trial last took it, or it was built: seconds since the epoch."""
    held: bool
    """Whether a running trial has it."""


def hold(name: str) -> Image:
    """Find the image of a recipe for guests that are to boot; it stays while this process does.

    `UserError` if it is not built.
    """
    image = find(name)
    try:
        lock = os.open(image.record, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        raise unbuilt(name) from None
    fcntl.flock(lock, fcntl.LOCK_SH)
    _HELD.append(lock)
    if not image.record.exists():  # dropped meanwhile
        raise unbuilt(name)
    with suppress(OSError):  # somebody else's cache, or one that cannot be written
        os.utime(image.folder)
    return image


def kept() -> list[Kept]:
    """List the images in the cache, the last used first."""
    found = []
    for record in cache_folder().glob("[!.]*/image.json"):
        with suppress(FileNotFoundError):  # somebody else drops it meanwhile
            found.append(_kept(Image(record.parent)))
    return sorted(found, key=lambda each: each.used, reverse=True)


def unnamed() -> list[Kept]:
    """Those that no recipe of this version names."""
    return [each for each in kept() if not each.names]


def drop(image: Image) -> bool:
    """Remove an image whole; False if a running trial has it, `UserError` if it will not go."""
    try:
        lock = os.open(image.record, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return True  # somebody else did, since it was listed
    try:
        if not _locked(lock):
            return False
        if image.record.exists():
            _remove(image)
    finally:
        os.close(lock)
    return True


def _remove(image: Image) -> None:
    """By a rename first: nobody finds half an image, even if we are killed."""
    hidden = image.folder.with_name(f".{image.folder.name}")
    ledger = Ledger(f"prune-{image.folder.name}")
    try:
        ledger.add("folder", path=str(hidden), inode=image.folder.stat().st_ino)
        image.folder.rename(hidden)
    except OSError as error:
        raise UserError(f"{image.folder}: cannot be removed ({error.strerror}).") from error
    finally:
        left = remove_listed(ledger)
        ledger.close()
    if left:
        raise UserError(f"{'; '.join(left)}; 'tierlab clean' tries again.")


def _kept(image: Image) -> Kept:
    lock = os.open(image.record, os.O_RDONLY | os.O_CLOEXEC)
    try:
        held = not _locked(lock)
    finally:
        os.close(lock)
    return Kept(
        image,
        tuple(name for name, recipe in RECIPES.items() if recipe.key == image.folder.name),
        sum(path.stat().st_size for path in image.folder.rglob("*") if path.is_file()),
        len(shelf.snapshots(image)),
        image.folder.stat().st_mtime,
        held,
    )


def _locked(lock: int) -> bool:
    """Lock it for ourselves, if nobody holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
