"""The soft resources that can be set, by the field's names: the one table of them.

A soft resource is a thread pool, connection pool or queue limit. Each server maps these names to
its own directives in `tierlab.servers`; error sentences and the reference page are made from this
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tierlab.experiment.kinds import Duration, Kind, Size, Whole
from tierlab.experiment.quantities import MIB, SECOND


@dataclass(frozen=True)
class SoftResource:
    """A limit by its name: its kind (with range), its default and what it bounds.

    `default` None means derived from the others; `meaning` says how.
    """

    name: str
    kind: Kind
    default: int | None
    directive: str
    meaning: str


_HTTPD = (
    SoftResource(
        "threads",
        Whole(1, 20_000),
        256,
        "MaxRequestWorkers",
        "requests worked on at once, over all processes",
    ),
    SoftResource(
        "threads_per_process",
        Whole(1, 1_000),
        None,
        "ThreadsPerChild",
        "threads in each process, a divisor of `threads`; without it, the largest up to 64, which "
        "must be 8 or more unless all are in one process (with prefork, 1)",
    ),
    SoftResource(
        "backlog",
        Whole(1, 65_535),
        511,
        "ListenBacklog",
        "connections that may wait to be accepted; the kernel caps it at net.core.somaxconn",
    ),
    SoftResource(
        "pool",
        Whole(1, 1_000),
        None,
        "ProxyPass max=",
        "connections to the application server, per process; without it, `threads_per_process`",
    ),
    SoftResource(
        "keep_alive_timeout",
        Duration("1s", "1h", step="1s"),
        5 * SECOND,
        "KeepAliveTimeout",
        "how long an idle client connection is kept",
    ),
)
_TOMCAT = (
    SoftResource("threads", Whole(1, 10_000), 200, "maxThreads", "requests worked on at once"),
    SoftResource(
        "accept_count",
        Whole(1, 65_535),
        100,
        "acceptCount",
        "connections that may wait to be accepted; the kernel caps it at net.core.somaxconn",
    ),
    SoftResource(
        "max_connections", Whole(1, 65_535), 8192, "maxConnections", "connections open at once"
    ),
    SoftResource(
        "pool", Whole(1, 10_000), 64, "maximumPoolSize", "connections to the database, per server"
    ),
    SoftResource(
        "pool_timeout",
        Duration("250ms", "10m", step="1ms"),
        30 * SECOND,
        "connectionTimeout",
        "how long a request waits for a database connection before it fails",
    ),
)
_HAPROXY = (
    SoftResource("max_connections", Whole(1, 100_000), 4096, "maxconn", "connections open at once"),
    SoftResource(
        "backlog",
        Whole(1, 65_535),
        1024,
        "backlog",
        "connections that may wait to be accepted; the kernel caps it at net.core.somaxconn",
    ),
)
_MARIADB = (
    SoftResource(
        "max_connections", Whole(10, 100_000), 300, "max_connections", "connections open at once"
    ),
    SoftResource(
        "backlog",
        Whole(1, 65_535),
        128,
        "back_log",
        "connections that may wait to be accepted; the kernel caps it at net.core.somaxconn",
    ),
    SoftResource(
        "buffer_pool",
        Size("5MiB", "1TiB"),
        128 * MIB,
        "innodb_buffer_pool_size",
        "memory for InnoDB's pages",
    ),
)

SOFT_RESOURCES: Mapping[str, Mapping[str, SoftResource]] = MappingProxyType(
    {
        server: MappingProxyType({resource.name: resource for resource in resources})
        for server, resources in {
            "httpd": _HTTPD,
            "tomcat": _TOMCAT,
            "haproxy": _HAPROXY,
            "mariadb": _MARIADB,
        }.items()
    }
)
"""By server and name."""
