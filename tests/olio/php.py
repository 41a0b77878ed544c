"""Olio and its geocoder under PHP's own web server, with a memcached of its own, for tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.rubbos.private_mariadb import free_port
from tests.rubis.databases import Server, dsn
from tests.rubis.php import await_port
from tests.web import PATIENCE_SECONDS
from tierlab.workloads.olio import pictures
from tierlab.workloads.olio.shape import DOCUMENT_ROOT, GEOCODER_ROOT

WORKERS = 4


@dataclass(frozen=True)
class Memcached:
    port: int

    def ask(self, line: str) -> list[str]:
        """The lines that it answers to a command, up to the one that ends them."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS) as link:
            link.sendall(f"{line}\r\n".encode())
            found = []
            for answer in link.makefile(encoding="utf-8", newline="\r\n"):
                found.append(answer.rstrip("\r\n"))
                if found[-1] in ("END", "OK", "EN") or found[-1].startswith("HD"):
                    break
        return found

    def counted(self, name: str) -> int:
        lines = (line.split() for line in self.ask("stats"))
        return next(int(parts[2]) for parts in lines if parts[1:2] == [name])

    def flush(self) -> None:
        assert self.ask("flush_all") == ["OK"]


@dataclass(frozen=True)
class Olio:
    port: int
    folder: Path
    """Of its log, its files and its sessions."""
    cache: Memcached
    geocoder: int
    """Its port."""
    database: Server

    @property
    def log(self) -> str:
        return (self.folder / "php.log").read_text()


@contextmanager
def olio(folder: Path, database: Server, **settings: str) -> Iterator[Olio]:
    """The application with all that it calls; `settings` are variables of its own."""
    shutil.copytree(pictures.folder(), folder / "files" / "seed")
    (folder / "sessions").mkdir()
    with memcached() as cache, php(folder / "geocoder.log", GEOCODER_ROOT / "public") as geocoder:
        variables = {
            "OLIO_DSN": dsn(database),
            "OLIO_USER": database.name,
            "OLIO_PASSWORD": "secret",
            "OLIO_MEMCACHED": f"127.0.0.1:{cache.port}",
            "OLIO_HTTP": f"127.0.0.1:{geocoder}",
            "OLIO_FILES": str(folder / "files"),
        }
        options = ("-d", f"session.save_path={folder}/sessions")
        with php(folder / "php.log", DOCUMENT_ROOT, *options, **variables | settings) as port:
            yield Olio(port, folder, cache, geocoder, database)


@contextmanager
def memcached() -> Iterator[Memcached]:
    port = free_port()
    with _running(["memcached", "-l", "127.0.0.1", "-p", str(port), "-u", "nobody"], port):
        yield Memcached(port)


@contextmanager
def php(log: Path, documents: Path, *options: str, **variables: str) -> Iterator[int]:
    """PHP's own web server; its port."""
    port = free_port()
    with log.open("w") as said:
        command = ["php", *options, "-S", f"127.0.0.1:{port}", "-t", str(documents)]
        environment = os.environ | variables | {"PHP_CLI_SERVER_WORKERS": str(WORKERS)}
        with _running(command, port, env=environment, stdout=said, stderr=said):
            yield port


@contextmanager
def _running(command: list[str], port: int, **rest: object) -> Iterator[None]:
    process = subprocess.Popen(command, start_new_session=True, **rest)  # type: ignore[call-overload]
    try:
        await_port(port)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_SECONDS)
