"""Apache httpd as the web tier: static pages from a document root, the rest to the app tier, if
there is one.
"""

from __future__ import annotations

import itertools
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from tierlab.servers.base import CONSOLE, Endpoint, Options, Server, Settings
from tierlab.servers.greetings import http_get
from tierlab.servers.soft import SoftError, SoftResource, backlog, completed, declared
from tierlab.values.kinds import Duration, Whole
from tierlab.values.quantities import MIB, SECOND

MOST_THREADS_PER_PROCESS = 64
"""Its own ThreadLimit, unless it is raised."""
FEWEST_THREADS_PER_PROCESS = 8
"""With fewer, event's processes are so many that it is another process model."""
MODULES = Path("/usr/lib/apache2/modules")
DOCUMENTS = "htdocs"
"""In its folder. In a guest, what is read of the host's folder is asked of the host each time."""

ACCESS_LOG_FORMAT = (
    '%{begin:usec}t %D %{X-Request-Id}i %>s %B %I %O %a %{remote}p %k \\"%m %U %H\\"'
)
"""Start (µs of the epoch), duration (µs), request id, final status, body bytes, bytes in and out,
client address and port, requests before on this connection, request line."""


class HttpdOptions(Options):
    """What is httpd's alone."""

    mpm: Literal["event", "prefork"] = "event"
    """httpd's processing model: threads in a few processes, or a process a request."""

    connector: Literal["ajp", "http"] = "ajp"
    """The protocol to the application server."""


class Httpd(Server):
    """One httpd, event or prefork; alone, or with AJP or HTTP to the application server."""

    kind = "httpd"
    programs: ClassVar[Mapping[str, str]] = {"apache2": "apache2-bin"}
    ports: ClassVar[Mapping[str, int]] = {"http": 8080}
    calls = ("ajp", "http")
    soft_resources = declared(
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
            "threads in each process, a divisor of `threads`; without it, the largest up to 64, "
            "which must be 8 or more unless all are in one process (with prefork, 1)",
        ),
        backlog(511, "ListenBacklog"),
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
    own_options = HttpdOptions
    holdable = ("threads",)
    # Graceful: requests in progress are finished and buffered log lines written.
    stop_signal = signal.SIGWINCH
    own_logs = ("logs/error.log", CONSOLE)
    disk = (DOCUMENTS,)

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
    def room(cls, settings: Settings) -> int:  # noqa: ARG003
        """With its processes' stacks."""
        return 128 * MIB

    @classmethod
    def caller_protocol(cls, options: Options, spoken: Mapping[str, int]) -> str | None:
        """The connector's, where the application server speaks it."""
        assert isinstance(options, HttpdOptions)
        if options.connector in spoken:
            return options.connector
        return super().caller_protocol(options, spoken)

    def render(self) -> dict[str, str]:
        """httpd.conf: the modules it needs and nothing from the system's configuration."""
        folder, endpoint = self.site.folder, self.site.endpoint
        lines = [
            f"ServerRoot {folder}",
            f"DefaultRuntimeDir {folder}/run",
            f"PidFile {folder}/run/httpd.pid",
            f"ServerName {endpoint.address}",
            f"Listen {endpoint}",
            f"ListenBacklog {self.soft['backlog']}",
            *self._modules(),
            *self._workers(),
            "Timeout 300",
            "GracefulShutdownTimeout 10",
            "KeepAlive On",
            f"KeepAliveTimeout {self.soft['keep_alive_timeout'] // SECOND}",
            "MaxKeepAliveRequests 0",
            "HostnameLookups Off",
            "ServerTokens Prod",
            f"DocumentRoot {folder}/{DOCUMENTS}",
            "AddType text/html .html",
            "AddType image/png .png",
            "AddDefaultCharset utf-8",
            f"<Directory {folder}/{DOCUMENTS}>",
            "    AllowOverride None",
            "    Require all granted",
            "</Directory>",
            *(line for app in self.site.upstreams for line in self._gateway(app)),
            "ErrorLog logs/error.log",
            "LogLevel warn",
            f'LogFormat "{ACCESS_LOG_FORMAT}" requests',
            "CustomLog logs/access.log requests",
            "BufferedLogs On",
        ]
        return {"httpd.conf": "\n".join(lines) + "\n"}

    def _gateway(self, app: Endpoint) -> list[str]:
        dynamic = self.content.application.dynamic_prefix
        return [
            # Tiers are told apart on the wire by their addresses.
            f"ProxySourceAddress {self.site.endpoint.address}",
            # retry=0: a refused connection must not shut the app tier out for a minute.
            f"ProxyPass {dynamic} {app.protocol}://{app}{dynamic} max={self.soft['pool']} retry=0",
        ]

    def _modules(self) -> list[str]:
        proxies = [
            name for app in self.site.upstreams for name in ("proxy", f"proxy_{app.protocol}")
        ]
        names = [f"mpm_{self.options.mpm}", "authz_core", "mime", *proxies]
        load = [f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in names]
        return [*load, "TypesConfig /dev/null"]

    def _workers(self) -> list[str]:
        """All processes from the start: no fork in the middle of a trial."""
        threads, each = self.soft["threads"], self.soft["threads_per_process"]
        processes = threads // each
        common = [
            f"ServerLimit {processes}",
            f"StartServers {processes}",
            f"MaxRequestWorkers {threads}",
            "MaxConnectionsPerChild 0",
        ]
        if self.options.mpm == "prefork":
            return [*common, f"MinSpareServers {processes}", f"MaxSpareServers {processes + 1}"]
        return [
            f"ThreadLimit {each}",
            f"ThreadsPerChild {each}",
            *common,
            f"MinSpareThreads {threads}",
            f"MaxSpareThreads {threads + each}",
        ]

    def prepare(self) -> None:
        """The static pages, and the folder for its own run-time files."""
        domain = self.site.domain
        domain.put(self.content.pages.documents, DOCUMENTS)
        domain.make_folder("run")
        domain.make_folder("logs")

    def program_files(self, program: Path) -> list[Path]:
        """httpd is mostly its modules."""
        return [program, *MODULES.glob("*.so")]

    def command(self) -> list[str]:
        """Stay in the foreground with this configuration only."""
        return ["apache2", "-f", str(self.site.folder / "httpd.conf"), "-DFOREGROUND"]

    def greet(self) -> None:
        """A page from the far end: it answers only if all tiers behind do."""
        http_get(self.site.connect, str(self.site.endpoint), self.content.pages.ready_path)


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
