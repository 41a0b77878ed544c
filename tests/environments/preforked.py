"""A server of several processes that share a socket, as nginx, Apache and gunicorn are.

    python3 preforked.py ADDRESS WORKERS [NAME]

It tells its port and its processes: itself, the workers, and a program that it has started. NAME is
what it is called then, as `ps -o comm` tells.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL


def main(address: str, workers: int, name: str | None = None) -> None:
    server = socket.create_server((address, 0))
    working = []
    for _ in range(workers):
        pid = os.fork()
        if pid == 0:
            while True:
                server.accept()[0].close()
        working.append(pid)
    started = subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
    if name is not None:
        Path("/proc/self/comm").write_text(name)
    print(server.getsockname()[1], os.getpid(), *working, started.pid, flush=True)
    started.wait()


@contextmanager
def preforked(
    address: str = "127.0.0.1",
    workers: int = 3,
    name: str | None = None,
    *,
    within: Sequence[str] = (),
) -> Iterator[list[int]]:
    """Its port, then its processes: the first, the workers, and one that does not listen. `within`
    is a command that becomes the one given to it.
    """
    named = [] if name is None else [name]
    with subprocess.Popen(
        [*within, sys.executable, __file__, address, str(workers), *named],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield list(map(int, process.stdout.readline().split()))
        finally:
            os.killpg(process.pid, SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
