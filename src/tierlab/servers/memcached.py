"""memcached: a cache of keys and values in memory, in front of a database."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import ClassVar

from tierlab.errors import UserError
from tierlab.servers.base import NotReadyError, Server, Settings
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Size, Whole
from tierlab.values.quantities import MIB

_LAST = (b"END\r\n", b"OK\r\n", b"ERROR\r\n")
"""Lines with which its answers end."""


class Memcached(Server):
    """One process; its threads share the connections."""

    kind = "memcached"
    programs: ClassVar[Mapping[str, str]] = {"memcached": "memcached"}
    version_argument = "-V"
    ports: ClassVar[Mapping[str, int]] = {"memcached": 11211}
    soft_resources = declared(
        SoftResource("threads", Whole(1, 64), 4, "-t", "threads that serve connections"),
        SoftResource(
            "max_connections",
            Whole(10, 65_000),
            1024,
            "-c",
            "connections open at once; more are turned away",
        ),
        SoftResource(
            "memory",
            Size("1MiB", "1TiB", step="1MiB"),
            64 * MIB,
            "-m",
            "memory for items; beyond it the least recently used are evicted",
            resizable=True,
        ),
        backlog(1024, "-b"),
    )
    holdable = ("max_connections",)
    worker_threads = False
    is_cache = True
    # It listens at a UNIX socket or at ports, not at both.
    statistics_port = 11210

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Besides its items: the table that finds them, and 16 KiB for each connection."""
        soft = settings.soft
        return soft["memory"] + 64 * MIB + soft["max_connections"] * (16 << 10)

    def render(self) -> dict[str, str]:
        """Nothing: all is on the command line."""
        return {}

    def prepare(self) -> None:
        """A folder for what it says last."""
        self.site.domain.make_folder("logs")

    def command(self) -> list[str]:
        """Stay in the foreground."""
        endpoint, soft = self.site.endpoint, self.soft
        own = f"{endpoint.address}:{self.statistics_port}"
        return [
            "memcached",
            # Whom it is started by it stays; only as root it asks to be told.
            *("-u", "root"),
            *("-l", f"{endpoint.address}:{endpoint.port},{own}"),
            *("-t", str(soft["threads"])),
            *("-c", str(soft["max_connections"])),
            *("-m", str(soft["memory"] // MIB)),
            *("-b", str(soft["backlog"])),
        ]

    def resize(self, resource: str, limit: int) -> int:
        """By its own command, which counts in MiB."""
        if resource != "memory":
            return super().resize(resource, limit)
        try:
            with self.site.connect() as link:
                _ask(link, f"cache_memlimit {limit // MIB}")
            return int(self.statistics("stats").get("limit_maxbytes", 0))
        except (OSError, NotReadyError) as error:
            raise UserError(
                f"{self.site.subject}: takes no limit of its memory ({error})."
            ) from error

    def last_words(self) -> dict[str, str]:
        """Its own counters since its start, a tab-separated line each."""
        lines = [f"{name}\t{value}\n" for name, value in self.statistics("stats").items()]
        return {"logs/stats.tsv": "".join(lines)}

    def statistics(self, command: str) -> dict[str, str]:
        """What it tells of itself, by name, to one of the `stats` commands."""
        with self.site.connect() as link:
            said = _ask(link, command)
        pairs = (line.split(" ", 2)[1:] for line in said.splitlines() if line.startswith("STAT "))
        return {pair[0]: pair[-1] for pair in pairs if len(pair) == 2}

    def greet(self) -> None:
        """Its settings, which have the limit that is in force."""
        limit = self.statistics("stats settings").get("maxconns")
        if limit is None:
            raise NotReadyError("it does not tell its settings")
        if int(limit) != self.soft["max_connections"]:
            raise UserError(
                f"{self.site.subject}: max_connections {self.soft['max_connections']} asked,"
                f" {limit} in force; the limit of open files allows no more."
            )


def _ask(link: socket.socket, command: str) -> str:
    """Send a command; return its answer to the last line."""
    link.sendall(f"{command}\r\n".encode())
    answer = b""
    while not answer.endswith(_LAST):
        part = link.recv(65_536)
        if not part:
            raise NotReadyError(f"it closed the connection on '{command}'")
        answer += part
    return answer.decode()
