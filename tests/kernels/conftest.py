"""The server of kernels, by itself."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.pace import wait_until
from tierlab.servers.kernels import BUILT

WORKERS = 3


@dataclass(frozen=True)
class Served:
    """A running server; its log has a line a request."""

    port: int
    log: Path

    def ask(self, target: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, target, headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def job(self, target: str) -> dict[str, Any]:
        status, text = self.ask(target)
        assert status == 200, text
        found: dict[str, Any] = json.loads(text)
        return found

    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.log.read_text().splitlines()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    log = tmp_path_factory.mktemp("kernels") / "log"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with log.open("w") as out:
        command = [BUILT, "serve", f"127.0.0.1:{port}", str(WORKERS), "2", "64"]
        server = subprocess.Popen(command, stdout=out)
    try:
        wait_until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)), "the server")
        yield Served(port, log)
    finally:
        server.kill()
        server.wait()
