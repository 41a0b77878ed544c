"""RUBiS under PHP's own web server, and a browser for it, for tests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.rubbos.private_mariadb import free_port
from tests.web import PATIENCE_SECONDS, Page, Site
from tierlab.workloads.rubis.shape import DOCUMENT_ROOT

from .databases import Server, dsn

ADDRESS = "/rubis/php/{}.php"
WORKERS = 4


@dataclass(frozen=True)
class Rubis(Site):
    folder: Path
    """Of its log."""

    @property
    def log(self) -> str:
        return (self.folder / "php.log").read_text()


def environment(database: Server, **settings: str) -> dict[str, str]:
    own = {"RUBIS_DSN": dsn(database), "RUBIS_USER": database.name, "RUBIS_PASSWORD": "secret"}
    return own | settings


@contextmanager
def rubis(folder: Path, database: Server, **settings: str) -> Iterator[Rubis]:
    site = Rubis(free_port(), ADDRESS, folder)
    variables = os.environ | environment(database, **settings)
    with (folder / "php.log").open("w") as log:
        process = subprocess.Popen(
            ["php", "-S", f"127.0.0.1:{site.port}", "-t", str(DOCUMENT_ROOT)],
            env=variables | {"PHP_CLI_SERVER_WORKERS": str(WORKERS)},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        await_port(site.port)
        yield site
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_SECONDS)


def await_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def mistakes(*pages: Page) -> str:
    """What HTML Tidy finds wrong in pages."""
    found = []
    for page in pages:
        done = subprocess.run(
            ["tidy", "-quiet", "-errors", "-utf8"],
            input=page.source,
            capture_output=True,
            text=True,
            check=False,
        )
        found.append(done.stderr)
    return "".join(found)
