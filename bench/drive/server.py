"""The server that all tools are measured against: nginx with one small file."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

PAGE_BYTES = 8_192
_CONFIGURATION = """
daemon off;
worker_processes {workers};
user root;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    {temporary}
    server {{
        listen 127.0.0.1:{port} backlog=4096 reuseport;
        root {folder};
    }}
}}
"""
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def serving(folder: Path, cores: list[int]) -> Iterator[int]:
    """Serve `page.html` from `folder` with nginx, a worker on each of `cores`; gives the port."""
    nginx = shutil.which("nginx")
    if nginx is None:
        raise SystemExit("bench/drive needs nginx: apt-get install nginx-light")
    port = _free_port()
    head = "<html><body>"
    (folder / "page.html").write_text(head + "x" * (PAGE_BYTES - len(head)))
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in _TEMPORARY)
    configuration = folder / "nginx.conf"
    configuration.write_text(
        _CONFIGURATION.format(folder=folder, port=port, temporary=temporary, workers=len(cores))
    )
    folder.chmod(0o755)
    pinned = ["taskset", "-c", ",".join(map(str, cores))]
    process = subprocess.Popen([*pinned, nginx, "-c", str(configuration), "-e", "stderr"])
    try:
        _wait_until_open(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


def _wait_until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit("bench/drive: nginx did not start; its own words are above")
