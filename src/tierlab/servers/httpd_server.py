"""What all forms of Apache httpd have in common: its configuration's frame, its start, its end."""

from __future__ import annotations

import signal
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tierlab.servers.base import CONSOLE, DOCUMENTS, Server, Settings
from tierlab.servers.greetings import http_get
from tierlab.servers.media_types import MEDIA_TYPES
from tierlab.servers.soft import SoftResource, backlog
from tierlab.values.kinds import Duration, Whole
from tierlab.values.quantities import MIB, SECOND

MODULES = Path("/usr/lib/apache2/modules")

ACCESS_LOG_FORMAT = (
    '%{begin:usec}t %D %{X-Request-Id}i %>s %B %I %O %a %{remote}p %k \\"%m %U %H\\"'
)
"""Start (µs of the epoch), duration (µs), request id, final status, body bytes, bytes in and out,
client address and port, requests before on this connection, request line."""

THREADS = SoftResource(
    "threads",
    Whole(1, 20_000),
    256,
    "MaxRequestWorkers",
    "requests worked on at once, over all processes",
)
BACKLOG = backlog(511, "ListenBacklog")
KEEP_ALIVE_TIMEOUT = SoftResource(
    "keep_alive_timeout",
    Duration("1s", "1h", step="1s"),
    5 * SECOND,
    "KeepAliveTimeout",
    "how long an idle client connection is kept",
)


class HttpdServer(Server):
    """One httpd; how it processes requests, and what it does with those that are not for a file, is
    its form's.
    """

    version_argument = "-v"
    ports: ClassVar[Mapping[str, int]] = {"http": 8080}
    holdable = ("threads",)
    # Graceful: requests in progress are finished and buffered log lines written.
    stop_signal = signal.SIGWINCH
    # It looks for its workers once a second only.
    last_signal = signal.SIGTERM
    restart_signal = signal.SIGHUP
    own_logs = ("logs/error.log", CONSOLE)
    disk: ClassVar[tuple[str, ...]] = (DOCUMENTS,)
    document_root = DOCUMENTS
    """In its folder."""

    @classmethod
    def room(cls, settings: Settings) -> int:  # noqa: ARG003
        """With its processes' stacks."""
        return 128 * MIB

    def render(self) -> dict[str, str]:
        """httpd.conf: the modules it needs and nothing from the system's configuration."""
        folder, endpoint = self.site.folder, self.site.endpoint
        root = f"{folder}/{self.document_root}"
        modules = ("authz_core", "mime", *self.modules())
        lines = [
            f"ServerRoot {folder}",
            f"DefaultRuntimeDir {folder}/run",
            f"PidFile {folder}/run/httpd.pid",
            f"ServerName {endpoint.address}",
            f"Listen {endpoint}",
            f"ListenBacklog {self.soft['backlog']}",
            *(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in modules),
            *self.processing(),
            "TypesConfig /dev/null",
            "Timeout 300",
            "GracefulShutdownTimeout 10",
            "KeepAlive On",
            f"KeepAliveTimeout {self.soft['keep_alive_timeout'] // SECOND}",
            "MaxKeepAliveRequests 0",
            "HostnameLookups Off",
            "ServerTokens Prod",
            f"DocumentRoot {root}",
            *(f"AddType {name} .{ending}" for ending, name in MEDIA_TYPES.items()),
            "AddDefaultCharset utf-8",
            f"<Directory {root}>",
            "    AllowOverride None",
            "    Require all granted",
            "</Directory>",
            *self.dynamic(),
            "ErrorLog logs/error.log",
            "LogLevel warn",
            f'LogFormat "{ACCESS_LOG_FORMAT}" requests',
            "CustomLog logs/access.log requests",
            "BufferedLogs On",
        ]
        return {"httpd.conf": "\n".join(lines) + "\n"}

    @abstractmethod
    def modules(self) -> tuple[str, ...]:
        """Modules besides those that every form has."""

    @abstractmethod
    def processing(self) -> list[str]:
        """How many processes and threads there are: all from the start, so that none is forked in
        the middle of a trial.
        """

    @abstractmethod
    def dynamic(self) -> list[str]:
        """What is done with requests that are not for a file."""

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


def processes(number: int) -> list[str]:
    """So many processes, never more or fewer."""
    return [f"ServerLimit {number}", f"StartServers {number}", "MaxConnectionsPerChild 0"]


def prefork(threads: int) -> list[str]:
    """A process for each request."""
    return [
        *processes(threads),
        f"MaxRequestWorkers {threads}",
        f"MinSpareServers {threads}",
        f"MaxSpareServers {threads + 1}",
    ]
