"""Node.js's own HTTP/2 in a network namespace, as server and as client, and a load beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from beds import wait_for
from traced_servers import TracedServers

SERVICE = {"name": "service.1", "address": "127.0.8.1", "port": 8000, "protocol": "http2"}
PROGRAMS = Path(__file__).parent


class Http2Bed(TracedServers):
    """The service, not started yet."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"tierlab-test-http2-{os.getpid()}", (SERVICE,), folder)
        self._where = (str(SERVICE["address"]), str(SERVICE["port"]))

    def start(self) -> None:
        out = self.folder / "service.out"
        service = str(PROGRAMS / "http2_service.cjs")
        self.spawn(["node", service, *self._where, str(self.folder / "access.log")], out)
        wait_for(self, *SERVICE_AT, out)

    def speak(self, rounds: int) -> None:
        """Ask for everything, several times on each of three connections."""
        self.run(["node", str(PROGRAMS / "http2_client.cjs"), *self._where, str(rounds)])

    def load(self, requests: int) -> int:
        """Ask for one page many times, 20 at a time on each of four connections; how many came."""
        url = f"http://{':'.join(self._where)}/item?size=2000"
        said = self.run(["h2load", "-n", str(requests), "-c", "4", "-m", "20", url])
        found = re.search(r"status codes: (\d+) 2xx", said)
        assert found is not None, said
        return int(found[1])

    def logged(self) -> list[str]:
        """Method and path of what the service answered, by its own log."""
        return (self.folder / "access.log").read_text().splitlines()


SERVICE_AT = (str(SERVICE["address"]), int(str(SERVICE["port"])))
