"""A PHP site as Debian sets it up: nginx, PHP-FPM and MariaDB, which talk at UNIX sockets."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

FPM = "php-fpm8.2"
PROGRAMS = ("nginx", FPM, "mariadbd", "mariadb-install-db")
HAS_PROGRAMS = all(shutil.which(name, path="/usr/bin:/usr/sbin:/bin:/sbin") for name in PROGRAMS)
SECONDS = 30.0
USER = "nobody"

NGINX = """\
daemon off;
pid {folder}/nginx.pid;
error_log stderr;
worker_processes 1;
events {{ worker_connections 100; }}
http {{
  access_log off;
  client_body_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp;
  uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
  server {{
    listen {address}:{port};
    location / {{
      fastcgi_pass unix:{php};
      fastcgi_param REQUEST_METHOD $request_method;
      fastcgi_param REQUEST_URI $request_uri;
      fastcgi_param QUERY_STRING $query_string;
      fastcgi_param SCRIPT_FILENAME {script};
      fastcgi_param GATEWAY_INTERFACE CGI/1.1;
      fastcgi_param SERVER_PROTOCOL $server_protocol;
    }}
  }}
}}
"""
POOL = """\
[global]
error_log = /dev/stderr
daemonize = no
[www]
{user}listen = {php}
pm = static
pm.max_children = 2
clear_env = no
"""
PAGE = """\
<?php
$db = new mysqli(null, {user}, {password}, {database}, 0, {socket});
$row = $db->query('SELECT 1 + 1 AS sum, SLEEP(0.02)')->fetch_assoc();
echo '<a href="/more">' . $row['sum'] . '</a>';
"""


@dataclass(frozen=True)
class Site:
    """A site that runs."""

    port: int
    php: Path
    mysql: Path


@contextmanager
def running(folder: Path) -> Iterator[Site]:
    """The site of somebody else's, started and stopped."""
    port, php, mysql = free_port(), folder / "php8.2-fpm.sock", folder / "db" / "mysqld.sock"
    folder.chmod(0o755)
    for name in ("tmp", "db"):
        (folder / name).mkdir()
    script = folder / "index.php"
    told = {"user": "'root'", "password": "''", "database": "'mysql'", "socket": f"'{mysql}'"}
    script.write_text(PAGE.format(**told))
    (folder / "nginx.conf").write_text(
        NGINX.format(folder=folder, address="127.0.0.1", port=port, php=php, script=script)
    )
    user = f"user = {USER}\nlisten.owner = {USER}\n" if os.geteuid() == 0 else ""
    (folder / "fpm.conf").write_text(POOL.format(user=user, php=php))
    _make_database(folder / "db")
    database = [
        *("mariadbd", "--no-defaults", f"--datadir={folder / 'db'}", f"--socket={mysql}"),
        *("--skip-networking", "--skip-grant-tables", "--skip-log-bin"),
        *((f"--user={USER}",) if os.geteuid() == 0 else ()),
    ]
    with ExitStack() as stack:
        stack.enter_context(started(database, mysql))
        fpm = [FPM, "--nodaemonize", "-n", "-d", "extension=mysqlnd", "-d", "extension=mysqli"]
        stack.enter_context(started([*fpm, "-y", str(folder / "fpm.conf")], php))
        stack.enter_context(started(["nginx", "-c", str(folder / "nginx.conf")], port))
        yield Site(port, php, mysql)


def _make_database(folder: Path) -> None:
    if os.geteuid() == 0:
        found = pwd.getpwnam(USER)
        os.chown(folder, found.pw_uid, found.pw_gid)
    subprocess.run(
        [
            *("mariadb-install-db", "--no-defaults", f"--datadir={folder}", "--skip-test-db"),
            *((f"--user={USER}",) if os.geteuid() == 0 else ()),
        ],
        check=True,
        capture_output=True,
    )


@contextmanager
def started(command: list[str], where: Path | int) -> Iterator[subprocess.Popen[bytes]]:
    """A program that accepts connections at a UNIX socket or a port."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + SECONDS
        while not _answers(where):
            assert process.poll() is None, command
            assert time.monotonic() < end, command
            time.sleep(0.02)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(where: Path | int) -> bool:
    family = socket.AF_INET if isinstance(where, int) else socket.AF_UNIX
    with socket.socket(family) as link:
        try:
            link.connect(("127.0.0.1", where) if isinstance(where, int) else str(where))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port at which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
