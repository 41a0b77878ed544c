"""Seed data: a data folder made once for a workload, scale, seed and server version, then copied.

It is built in the trial's own folder by a server without network, and appears in the cache by a
rename: a half-built seed is never taken for a whole one. It has no account: a trial makes its own.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tierlab import installation
from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.environment import Environment
from tierlab.environments.files import copy_tree
from tierlab.errors import UserError
from tierlab.servers.content import Content
from tierlab.servers.disk import need_room, size

KEPT_SECONDS = 3 * 86_400
BUILDING_BYTES = 192 << 20
"""An empty data folder with its logs, and some data; a large scale needs more."""


class Builder(Protocol):
    """Makes a database server's data folder."""

    kind: str
    """The server's."""

    def version(self) -> str:
        """Name all of the server that the folder depends on: an older one may not read it."""

    def build(self, domain: Domain, content: Content) -> Path:
        """Load the content's data with a server that is stopped again; its data folder."""


def cache_folder(kind: str) -> Path:
    """``$XDG_CACHE_HOME/tierlab/<kind>``, by default below ``~/.cache``."""
    return installation.cache(kind)


def seed_folder(environment: Environment, builder: Builder, content: Content) -> Path:
    """Return the cached folder with the content's data, made if it is not there."""
    assert content.loader is not None
    cache = cache_folder(builder.kind)
    folder = cache / f"{content.loader.key}-{builder.version()}"
    if folder.exists():
        os.utime(folder)
        return folder
    prune(cache)
    need_room(environment.work, BUILDING_BYTES, "making the seed data")
    domain = environment.create_here(DomainSpec("seed"))
    domain.start()
    try:
        _keep(environment, builder.build(domain, content), folder)
    finally:
        domain.destroy()
    return folder


def prune(cache: Path) -> None:
    """Throw away seeds that no trial has used for days: data is dated, so they never fit again."""
    oldest = time.time() - KEPT_SECONDS
    for folder in cache.glob("*"):
        with suppress(FileNotFoundError):  # another trial prunes at the same time
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder)


def _keep(environment: Environment, data: Path, folder: Path) -> None:
    """Move the data into the cache, complete or not at all."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"{folder.parent}: cannot keep seed data there ({error.strerror}); set XDG_CACHE_HOME."
        ) from error
    with environment.scratch(folder.with_name(f".{folder.name}.{environment.trial}")) as partial:
        need_room(partial, size(data), "keeping the seed data")
        copy_tree(data, partial / data.name)
        try:
            (partial / data.name).rename(folder)
            os.utime(folder)
        except OSError:
            if not folder.exists():  # else another trial was quicker with the same data
                raise
            shutil.rmtree(partial / data.name)
