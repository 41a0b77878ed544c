"""Apache httpd as the web tier: static pages from a document root, the rest to the app tier, if
there is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import ClassVar, Literal

from tierlab.servers import php
from tierlab.servers.base import Options
from tierlab.servers.httpd_server import (
    BACKLOG,
    KEEP_ALIVE_TIMEOUT,
    THREADS,
    HttpdServer,
    prefork,
    processes,
)
from tierlab.servers.soft import SoftError, SoftResource, completed, declared
from tierlab.values.kinds import Whole

MOST_THREADS_PER_PROCESS = 64
"""Its own ThreadLimit, unless it is raised."""
FEWEST_THREADS_PER_PROCESS = 8
"""With fewer, event's processes are so many that it is another process model."""


BALANCER = ("proxy_balancer", "slotmem_shm", "lbmethod_bybusyness")


class HttpdOptions(Options):
    """What is httpd's alone."""

    mpm: Literal["event", "prefork"] = "event"
    """httpd's processing model: threads in a few processes, or a process a request."""

    connector: Literal["ajp", "http"] = "ajp"
    """The protocol to an application server that speaks both."""


class Httpd(HttpdServer):
    """One httpd, event or prefork; alone, or with AJP, HTTP or FastCGI to an application server."""

    kind = "httpd"
    programs: ClassVar[Mapping[str, str]] = {"apache2": "apache2-bin"}
    calls = ("ajp", "http", "fcgi")
    soft_resources = declared(
        THREADS,
        SoftResource(
            "threads_per_process",
            Whole(1, 1_000),
            None,
            "ThreadsPerChild",
            "threads in each process, a divisor of `threads`; without it, the largest up to 64, "
            "which must be 8 or more unless all are in one process (with prefork, 1)",
        ),
        BACKLOG,
        SoftResource(
            "pool",
            Whole(1, 1_000),
            None,
            "ProxyPass max=",
            "connections to the application server, per process; without it, `threads_per_process`",
        ),
        KEEP_ALIVE_TIMEOUT,
    )
    own_options = HttpdOptions
    options: HttpdOptions

    @classmethod
    def complete(cls, given: Mapping[str, int], options: Mapping[str, object]) -> dict[str, int]:
        """MaxRequestWorkers is a number of whole processes; httpd would lower it in silence."""
        processes_only = options.get("mpm") == "prefork"
        soft = completed(cls.soft_resources.values(), given)
        threads = soft["threads"]
        if "threads_per_process" not in soft:
            soft["threads_per_process"] = 1 if processes_only else _even_share(threads)
        each = soft["threads_per_process"]
        soft.setdefault("pool", each)
        if processes_only and each != 1:
            raise SoftError("threads_per_process", f'must be 1 with mpm = "prefork", not {each}')
        if threads % each:
            raise SoftError("threads_per_process", f"must divide threads ({threads}), not {each}")
        return {name: soft[name] for name in cls.soft_resources}

    @classmethod
    def caller_protocol(cls, options: Options, spoken: Mapping[str, int]) -> str | None:
        """The connector's, where the application server speaks it."""
        assert isinstance(options, HttpdOptions)
        if options.connector in spoken:
            return options.connector
        return super().caller_protocol(options, spoken)

    def modules(self) -> tuple[str, ...]:
        """The processing model, and a proxy for the application servers' protocol."""
        apps = self.site.upstreams
        proxies = dict.fromkeys(f"proxy_{app.protocol}" for app in apps)
        names = ("proxy", *proxies, *(BALANCER if len(apps) > 1 else ())) if proxies else ()
        return (f"mpm_{self.options.mpm}", *names)

    def processing(self) -> list[str]:
        """As many processes as it takes."""
        threads, each = self.soft["threads"], self.soft["threads_per_process"]
        if self.options.mpm == "prefork":
            return prefork(threads)
        return [
            f"ThreadLimit {each}",
            f"ThreadsPerChild {each}",
            *processes(threads // each),
            f"MaxRequestWorkers {threads}",
            f"MinSpareThreads {threads}",
            f"MaxSpareThreads {threads + each}",
        ]

    def dynamic(self) -> list[str]:
        """To the application server, or to the one of several that has the fewest requests."""
        apps = self.site.upstreams
        if not apps:
            return []
        dynamic = self.content.dynamic.dynamic_prefix
        # retry=0: a refused connection must not shut a server out for a minute.
        settings = f"max={self.soft['pool']} retry=0"
        lines = [
            # Tiers are told apart on the wire by their addresses.
            f"ProxySourceAddress {self.site.endpoint.address}",
        ]
        if apps[0].protocol == "fcgi":
            path = php.SCRIPT.format("%{reqenv:SCRIPT_NAME}")
            lines.append(f'ProxyFCGISetEnvIf "true" SCRIPT_FILENAME "{path}"')
        if len(apps) == 1:
            return [
                *lines,
                f"ProxyPass {dynamic} {apps[0].protocol}://{apps[0]}{dynamic} {settings}",
            ]
        return [
            *lines,
            "<Proxy balancer://application>",
            *(f"    BalancerMember {app.protocol}://{app} {settings}" for app in apps),
            "    ProxySet lbmethod=bybusyness",
            "</Proxy>",
            f"ProxyPass {dynamic} balancer://application{dynamic}",
        ]


def _even_share(threads: int) -> int:
    """Threads in each process, so that all processes have the same number."""
    share = largest_divisor(threads, MOST_THREADS_PER_PROCESS)
    if share == threads or share >= FEWEST_THREADS_PER_PROCESS:
        return share
    below = next(n for n in range(threads, 0, -1) if _shares_out(n))
    above = next(n for n in itertools.count(threads) if _shares_out(n))
    raise SoftError(
        "threads",
        f"cannot be {threads}: event's processes of at most {MOST_THREADS_PER_PROCESS} threads"
        f" would have {share} each; take {below} or {above}, or set threads_per_process",
    )


def _shares_out(threads: int) -> bool:
    return largest_divisor(threads, MOST_THREADS_PER_PROCESS) >= FEWEST_THREADS_PER_PROCESS


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`."""
    return next(d for d in range(min(number, most), 0, -1) if number % d == 0)
