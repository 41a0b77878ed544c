"""Seed data: a data folder made once for a workload, scale, seed and server version, then copied.

It is built by a server without network. It has no account: a trial makes its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from tierlab.environments.domain import Domain
from tierlab.environments.environment import Environment
from tierlab.servers.content import Content
from tierlab.servers.made_once import Sort, cache_folder, made_once

# Room for an empty data folder with its logs, and some data; a large scale needs more.
SEED = Sort("seed", "seed data", 192 << 20)


class Builder(Protocol):
    """Makes a database server's data folder."""

    kind: str
    """The server's."""

    def version(self) -> str:
        """Name all of the server that the folder depends on: an older one may not read it."""

    def build(self, domain: Domain, content: Content) -> Path:
        """Load the content's data with a server that is stopped again; its data folder."""


def seed_folder(environment: Environment, builder: Builder, content: Content) -> Path:
    """Return the cached folder with the content's data, made if it is not there."""
    assert content.loader is not None
    folder = cache_folder(builder.kind) / f"{content.loader.key}-{builder.version()}"
    return made_once(environment, SEED, folder, lambda domain: builder.build(domain, content))
