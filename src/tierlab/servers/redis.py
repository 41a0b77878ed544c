"""Redis: a store of keys and values in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from tierlab.errors import UserError
from tierlab.servers.base import NotReadyError, Options, Server, Settings
from tierlab.servers.resp import Resp, RespError
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Size, Whole
from tierlab.values.quantities import MIB

CONFIGURATION = "redis.conf"
DATA = "data"

DIRECTIVES = {"max_connections": "maxclients", "memory": "maxmemory"}
"""What changes while it runs."""


class RedisOptions(Options):
    """What is Redis' alone."""

    eviction: Literal[
        "noeviction",
        "allkeys-lru",
        "allkeys-lfu",
        "allkeys-random",
        "volatile-lru",
        "volatile-lfu",
        "volatile-random",
        "volatile-ttl",
    ] = "noeviction"
    """What happens when its memory is full: which keys go, or writes are refused."""

    append_only: bool = False
    """Whether each write is logged on the disk, and the log rewritten by a copy of the process."""


class Redis(Server):
    """One process, of which one thread runs the commands."""

    kind = "redis"
    programs: ClassVar[Mapping[str, str]] = {"redis-server": "redis-server"}
    ports: ClassVar[Mapping[str, int]] = {"redis": 6379}
    soft_resources = declared(
        SoftResource(
            "threads",
            Whole(1, 128),
            1,
            "io-threads",
            "threads that write replies; commands run in one of them",
        ),
        SoftResource(
            "max_connections",
            Whole(10, 60_000),
            1024,
            "maxclients",
            "connections open at once; more are turned away",
            resizable=True,
        ),
        SoftResource(
            "memory",
            Size("2MiB", "1TiB", step="1MiB"),
            128 * MIB,
            "maxmemory",
            "memory for keys and values; when it is full, see `eviction`",
            resizable=True,
        ),
        backlog(511, "tcp-backlog"),
    )
    holdable = ("max_connections",)
    worker_threads = False
    own_options = RedisOptions
    options: RedisOptions
    is_cache = True
    socket = "redis.sock"
    disk = (DATA,)

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Besides its data: fragments, and buffers for its connections; twice, where copies of it
        rewrite its log.
        """
        soft, options = settings.soft, settings.options
        copies = 2 if isinstance(options, RedisOptions) and options.append_only else 1
        return copies * (soft["memory"] * 5 // 4) + 64 * MIB + soft["max_connections"] * (32 << 10)

    def render(self) -> dict[str, str]:
        """redis.conf: all that it needs and nothing from the system's configuration."""
        endpoint, folder, soft = self.site.endpoint, self.site.folder, self.soft
        settings: dict[str, str | int] = {
            "bind": endpoint.address,
            "port": endpoint.port,
            # Nobody is in its network but the trial.
            "protected-mode": "no",
            "unixsocket": str(folder / self.socket),
            "unixsocketperm": 700,
            "dir": str(folder / DATA),
            "daemonize": "no",
            "save": '""',
            "appendonly": "yes" if self.options.append_only else "no",
            "io-threads": soft["threads"],
            "maxclients": soft["max_connections"],
            "maxmemory": soft["memory"],
            "maxmemory-policy": self.options.eviction,
            "tcp-backlog": soft["backlog"],
        }
        return {CONFIGURATION: "".join(f"{name} {value}\n" for name, value in settings.items())}

    def prepare(self) -> None:
        """Folders for its log of writes and for what it says last."""
        self.site.domain.make_folder(DATA)
        self.site.domain.make_folder("logs")

    def command(self) -> list[str]:
        """Stay in the foreground with this file only."""
        return ["redis-server", str(self.site.folder / CONFIGURATION)]

    def resize(self, resource: str, limit: int) -> int:
        """By CONFIG SET."""
        directive = DIRECTIVES.get(resource)
        if directive is None:
            return super().resize(resource, limit)
        try:
            with Resp(self.site.connect()) as link:
                link.ask("CONFIG", "SET", directive, str(limit))
                return _limit(link, directive)
        except (OSError, RespError) as error:
            raise UserError(
                f"{self.site.subject}: redis refuses {resource} {limit} ({error}); see its log."
            ) from error

    def last_words(self) -> dict[str, str]:
        """Its own counters since its start, each command's among them, as INFO tells them."""
        try:
            with Resp(self.site.connect()) as link:
                return {"logs/info.txt": str(link.ask("INFO", "all"))}
        except RespError:
            return {}

    def greet(self) -> None:
        """PING, and the limit of its connections that is in force."""
        with Resp(self.site.connect()) as link:
            try:
                link.ask("PING")
                limit = _limit(link, "maxclients")
            except RespError as error:
                raise NotReadyError(f"it answers '{error}'") from error
        if limit != self.soft["max_connections"]:
            raise UserError(
                f"{self.site.subject}: max_connections {self.soft['max_connections']} asked,"
                f" {limit} in force; the limit of open files allows no more."
            )


def _limit(link: Resp, directive: str) -> int:
    found = link.ask("CONFIG", "GET", directive)
    if not isinstance(found, list) or len(found) != 2:
        raise RespError(f"no {directive}")
    return int(str(found[1]))
