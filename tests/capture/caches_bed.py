"""memcached and Redis in a network namespace, and clients that speak all of their protocols."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from beds import AS_NOBODY, wait_for
from traced_servers import TracedServers

from tierlab.servers.resp import Resp

CACHE = {"name": "cache.1", "address": "127.0.8.1", "port": 11211, "protocol": "memcached"}
STORE = {"name": "store.1", "address": "127.0.9.1", "port": 6379, "protocol": "redis"}

TEXT = (
    b"version\r\n",
    b"set a:1 5 0 5\r\nhello\r\n",
    b"get a:1\r\n",
    b"get missing\r\n",
    b"get a:1 missing a:1\r\n",
    b"gets a:1\r\n",
    b"gat 100 a:1\r\n",
    b"add a:1 0 0 1\r\nx\r\n",
    b"replace a:1 0 0 3\r\nabc\r\n",
    b"append a:1 0 0 2\r\nde\r\n",
    b"prepend a:1 0 0 2\r\n00\r\n",
    b"cas a:1 0 0 1 1\r\nx\r\n",
    b"cas missing 0 0 1 1\r\nx\r\n",
    b"set n 0 0 2\r\n10\r\n",
    b"incr n 5\r\n",
    b"decr n 12345\r\n",
    b"incr a:1 1\r\n",
    b"incr missing 1\r\n",
    b"touch a:1 100\r\n",
    b"touch missing 100\r\n",
    b"delete a:1\r\n",
    b"delete a:1\r\n",
    b"set long 0 0 100000\r\n" + b"v" * 100_000 + b"\r\n",
    b"get long\r\n",
    b"set k 0 0 0\r\n\r\n",
    b"get k\r\n",
    b"stats\r\n",
    b"stats settings\r\n",
    b"flush_all\r\n",
    b"nonsense here\r\n",
    b"verbosity 0\r\n",
    b"get b\r\nset b 0 0 1\r\nx\r\nget b\r\n",
)
"""Each is sent once the reply to the one before has come."""

META = (
    b"ms m 2 T0\r\nhi\r\n",
    b"mg m v t f\r\n",
    b"mg missing v\r\n",
    b"mg m v q k O1\r\nmg missing v q k O2\r\nmn\r\n",
    b"ms m 1 ME\r\nx\r\n",
    b"ms n 2\r\n10\r\n",
    b"ma n v\r\n",
    b"me m\r\n",
    b"md m q O3\r\nmd missing O4\r\nmn\r\n",
)

BINARY = (
    (0x01, b"k", b"v" * 300, 8),
    (0x00, b"k", b"", 0),
    (0x00, b"missing", b"", 0),
    (0x0D, b"k", b"", 0),
    (0x0D, b"missing", b"", 0),
    (0x0A, b"", b"", 0),
    (0x02, b"k", b"x", 8),
    (0x11, b"q", b"quiet", 8),
    (0x0E, b"k", b"more", 0),
    (0x10, b"", b"", 0),
    (0x0B, b"", b"", 0),
    (0x04, b"k", b"", 0),
    (0x14, b"k", b"", 0),
    (0x0A, b"", b"", 0),
)
"""Opcode, key, value and length of the extras."""

COMMANDS = (
    (b"SET", b"a:1", b"1"),
    (b"GET", b"a:1"),
    (b"GET", b"missing"),
    (b"INCR", b"n"),
    (b"RPUSH", b"list", *(b"%d" % number for number in range(300))),
    (b"LRANGE", b"list", b"0", b"-1"),
    (b"HSET", b"h", b"f", b"v"),
    (b"HGETALL", b"h"),
    (b"MGET", b"a:1", b"missing", b"n"),
    (b"NOPE", b"secret"),
    (b"LPOP", b"a:1"),
    (b"CONFIG", b"GET", b"max*"),
    (b"EVAL", b"return {1,{2,'x'},false}", b"0"),
    (b"DEL", b"list"),
    (b"PING",),
)
"""Of RESP2, which Wireshark knows."""


class CachesBed(TracedServers):
    """Both servers, not started yet, in a folder that an unprivileged user owns."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"tierlab-test-caches-{os.getpid()}", (CACHE, STORE), folder)

    def start(self) -> None:
        """Start both and wait until they listen."""
        where = f"{CACHE['address']}:{CACHE['port']}"
        memcached = [*AS_NOBODY, "/usr/bin/memcached", "-l", where, "-t", "2", "-c", "1024"]
        redis = [*AS_NOBODY, "/usr/bin/redis-server", "--bind", str(STORE["address"])]
        redis += ["--port", str(STORE["port"]), "--save", "", "--dir", str(self.folder)]
        self.spawn(memcached, self.folder / "memcached.log")
        self.spawn([*redis, "--protected-mode", "no"], self.folder / "redis.log")
        for server, log in ((CACHE, "memcached.log"), (STORE, "redis.log")):
            at = str(server["address"]), int(str(server["port"]))
            wait_for(self, *at, self.folder / log)

    def connect(self, server: dict[str, object]) -> socket.socket:
        """Connect to one of them."""
        link = self.native.connect(str(server["address"]), int(str(server["port"])), timeout=30)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link

    def say(self, server: dict[str, object], requests: Iterable[bytes]) -> None:
        """Send one after the other on one connection, each once no more comes to the one before."""
        with self.connect(server) as link:
            for request in requests:
                link.sendall(request)
                # To a quiet command nothing comes.
                link.settimeout(0.1)
                with suppress(TimeoutError):
                    while link.recv(1 << 20):
                        link.settimeout(0.003)

    def speak(self) -> None:
        """Say all that there is, on several connections at once."""
        commands = [array(*words) for words in COMMANDS]
        big = array(b"SET", b"big", b"x" * 100_000), array(b"GET", b"big")
        said = [
            (CACHE, [*TEXT, *META]),
            (CACHE, [binary(*each, opaque=number) for number, each in enumerate(BINARY)]),
            (STORE, [*commands, b"PING\r\n", b"set a b\r\n", b"".join(commands), *big]),
        ]
        with ThreadPoolExecutor(9) as pool:
            list(pool.map(lambda one: self.say(*one), said * 3))

    def statistics(self) -> dict[str, int]:
        """memcached's own counters, as far as they are numbers."""
        with self.connect(CACHE) as link:
            link.sendall(b"stats\r\n")
            said = until(link, b"END\r\n").decode()
        words = (line.split() for line in said.splitlines())
        return {word[1]: int(word[2]) for word in words if len(word) == 3 and word[2].isdigit()}

    def commands(self) -> dict[str, int]:
        """How often Redis has run each command, as its statistics name it."""
        with Resp(self.connect(STORE)) as link:
            said = str(link.ask("INFO", "commandstats"))
        lines = (line for line in said.splitlines() if line.startswith("cmdstat_"))
        parts = (line.removeprefix("cmdstat_").split(":calls=") for line in lines)
        return {name: int(rest.split(",")[0]) for name, rest in parts}


def until(link: socket.socket, end: bytes) -> bytes:
    """What comes, to this end."""
    said = b""
    while not said.endswith(end):
        part = link.recv(1 << 20)
        assert part, said[-100:]
        said += part
    return said


def array(*words: bytes) -> bytes:
    """A command of RESP."""
    parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
    return b"*%d\r\n%s" % (len(words), b"".join(parts))


def binary(opcode: int, key: bytes, value: bytes, extras: int, opaque: int = 0) -> bytes:
    """A command of memcached's binary protocol, its extras all zero."""
    body = bytes(extras) + key + value
    lengths = (len(key), extras, 0, 0, len(body))
    return struct.pack(">BBHBBHIIQ", 0x80, opcode, *lengths, opaque, 0) + body
