"""A PHP site as Debian sets it up: nginx, PHP-FPM and MariaDB, which talk at UNIX sockets.

Its scripts are in the folder php_site, where an experiment file may have them run, too.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tierlab.environments.unix.address import connect

SCRIPTS = Path(__file__).with_name("php_site")
PROGRAMS = ("nginx", "php-fpm8.2", "mariadbd", "mariadb-install-db")
HAS_PROGRAMS = all(shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin") for name in PROGRAMS)
NEEDS = "needs nginx, php-fpm8.2, php8.2-mysql and mariadb-server"
SECONDS = 30.0
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--")


@dataclass(frozen=True)
class Site:
    """A site that runs."""

    port: int
    php: Path
    mysql: Path


@contextmanager
def running(folder: Path) -> Iterator[Site]:
    """The site, started by somebody else than Tierlab, and stopped; `folder` has a short path."""
    site = Site(free_port(), folder / "web" / "php8.2-fpm.sock", folder / "db" / "mysqld.sock")
    folder.chmod(0o755)
    shutil.copytree(SCRIPTS, folder / "web")
    (folder / "db").mkdir()
    if os.geteuid() == 0:
        for each in (folder, *folder.rglob("*")):
            os.chown(each, NOBODY, NOBODY)
    data = f"--datadir={folder / 'db'}"
    install = ["mariadb-install-db", "--no-defaults", data, "--skip-test-db"]
    subprocess.run([*_prefix(), *install], check=True, capture_output=True)
    database = [
        *("mariadbd", "--no-defaults", data, f"--socket={site.mysql}", "--skip-networking"),
        *("--skip-grant-tables", "--skip-log-bin"),
    ]
    told = {"DB_SOCKET": str(site.mysql), "DB_USER": "root", "DB_NAME": "mysql"}
    web = ["sh", "web.sh", "127.0.0.1", str(site.port), str(site.php)]
    with ExitStack() as stack:
        stack.enter_context(started([*_prefix(), *database], site.mysql))
        app = [*_prefix(), "sh", "app.sh", str(site.php)]
        stack.enter_context(started(app, site.php, folder / "web", told))
        stack.enter_context(started([*_prefix(), *web], site.port, folder / "web"))
        yield site


def _prefix() -> tuple[str, ...]:
    return AS_NOBODY if os.geteuid() == 0 else ()


@contextmanager
def started(
    command: list[str],
    where: Path | int | str,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that accepts connections at a UNIX socket (a text: an abstract name) or a port."""
    environment = {**os.environ, **(variables or {})}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + SECONDS
        while not _answers(where):
            assert process.poll() is None, command
            assert time.monotonic() < end, command
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(where: Path | int | str) -> bool:
    family = socket.AF_INET if isinstance(where, int) else socket.AF_UNIX
    with socket.socket(family) as link:
        try:
            if isinstance(where, int):
                link.connect(("127.0.0.1", where))
            else:
                connect(link, str(where))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port at which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
