"""Apache httpd as the web tier: static pages from a document root, the rest to the app tier, if
there is one.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from tierlab.servers.application import Application, Pages
from tierlab.servers.base import Endpoint, Server, Site
from tierlab.servers.greetings import http_get

NS_PER_SECOND = 1_000_000_000
MODULES = Path("/usr/lib/apache2/modules")
DOCUMENTS = "htdocs"
"""In its folder. In a guest, what is read of the host's folder is asked of the host each time."""

ACCESS_LOG_FORMAT = (
    '%{begin:usec}t %D %{X-Request-Id}i %>s %B %I %O %a %{remote}p %k \\"%m %U %H\\"'
)
"""Start (µs of the epoch), duration (µs), request id, final status, body bytes, bytes in and out,
client address and port, requests before on this connection, request line."""


class Httpd(Server):
    """One httpd, event or prefork; alone, or with AJP or HTTP to the application server."""

    kind = "httpd"
    programs: ClassVar[Mapping[str, str]] = {"apache2": "apache2-bin"}
    # Graceful: requests in progress are finished and buffered log lines written.
    stop_signal = signal.SIGWINCH
    own_logs = ("logs/error.log", "logs/console.log")
    disk = (DOCUMENTS,)

    def __init__(
        self,
        site: Site,
        soft: Mapping[str, int],
        *,
        mpm: Literal["event", "prefork"],
        application: Pages,
    ) -> None:
        super().__init__(site, soft)
        self._mpm = mpm
        self._application = application

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
            f"KeepAliveTimeout {self.soft['keep_alive_timeout'] // NS_PER_SECOND}",
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
        assert isinstance(self._application, Application)  # nothing else has an application tier
        dynamic = self._application.dynamic_prefix
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
        names = [f"mpm_{self._mpm}", "authz_core", "mime", *proxies]
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
        if self._mpm == "prefork":
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
        domain.put(self._application.documents, DOCUMENTS)
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
        http_get(self.site.connect, str(self.site.endpoint), self._application.ready_path)
