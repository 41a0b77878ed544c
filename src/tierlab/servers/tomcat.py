"""Tomcat as the application tier: a Java application with Tomcat embedded in it.

The application is a jar with its libraries in ``lib`` beside it. It takes a properties file by
``-D<name>.config`` whose keys are `Tomcat.render`'s, and ends on SIGTERM.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from tierlab.servers.application import Application
from tierlab.servers.base import Server, Site
from tierlab.servers.database import Credentials
from tierlab.servers.greetings import ajp_ping, http_get
from tierlab.servers.orders import resized

NS_PER_MS = 1_000_000
CONTROL = "soft.sock"
"""In the domain's folder: where the application takes orders to resize its soft resources."""


class Tomcat(Server):
    """One JVM with the application, its connector and its database pool."""

    kind = "tomcat"
    programs: ClassVar[Mapping[str, str]] = {"java": "openjdk-17-jre-headless"}

    def __init__(
        self,
        site: Site,
        soft: Mapping[str, int],
        *,
        application: Application,
        credentials: Credentials,
        heap: int,
        fidelity: str,
    ) -> None:
        """`heap` in bytes, allotted from the start."""
        super().__init__(site, soft)
        self._application = application
        self._credentials = credentials
        self._heap = heap
        self._fidelity = fidelity

    def render(self) -> dict[str, str]:
        """The application's properties."""
        folder, endpoint, soft = self.site.folder, self.site.endpoint, self.soft
        database, login = self.site.upstreams[0], self._credentials
        # Tiers are told apart on the wire by their addresses; no TLS, so that it can be read.
        url = (
            f"jdbc:mariadb://{database}/{login.database}"
            f"?localSocketAddress={endpoint.address}&sslMode=disable"
        )
        properties = {
            f"{endpoint.protocol}.address": endpoint.address,
            f"{endpoint.protocol}.port": endpoint.port,
            "threads.max": soft["threads"],
            "accept.count": soft["accept_count"],
            "connections.max": soft["max_connections"],
            "pool.size": soft["pool"],
            "pool.timeout.ms": soft["pool_timeout"] // NS_PER_MS,
            "jdbc.url": url,
            "jdbc.user": login.user,
            "jdbc.password": login.password,
            "access.log": folder / "logs" / "access.log",
            "soft.log": folder / "logs" / "soft.log",
            # None where nobody would reach it: in a domain with a kernel of its own.
            "soft.socket": folder / CONTROL if self.site.domain.inside() is None else "",
            "work.dir": folder / "work",
            "fidelity": self._fidelity,
        }
        text = "".join(f"{key}={value}\n" for key, value in properties.items())
        return {f"{self._application.name}.properties": text}

    def prepare(self) -> None:
        """The program; the original may lie where the servers' user cannot read it."""
        domain = self.site.domain
        domain.put(self._application.jar, "app.jar")
        domain.put(self._application.libraries, "lib")
        domain.make_folder("work")
        domain.make_folder("tmp")
        domain.make_folder("logs")

    def program_files(self, program: Path) -> list[Path]:
        """The Java machine, and the archive of its classes."""
        libraries = program.parents[1] / "lib"
        return [
            path
            for path in (libraries / "server/libjvm.so", libraries / "modules")
            if path.exists()
        ]

    def command(self) -> list[str]:
        """A heap of fixed size; collections and safepoints logged by epoch (ms) and uptime (ns)."""
        folder, name = self.site.folder, self._application.name
        return [
            "java",
            f"-Xms{self._heap}",
            f"-Xmx{self._heap}",
            "-Xlog:gc*,safepoint:file=logs/gc.log:timemillis,uptimenanos,tags:filecount=0",
            "-XX:ErrorFile=logs/hs_err.log",
            "-XX:-UsePerfData",  # it would leave a folder in /tmp
            # Else its sockets are IPv6 ones, and are missing where others look for them.
            "-Djava.net.preferIPv4Stack=true",
            f"-Djava.io.tmpdir={folder}/tmp",
            f"-D{name}.config={folder}/{name}.properties",
            "-jar",
            "app.jar",
        ]

    def resize(self, resource: str, limit: int) -> int:
        """By an order to the application, which it keeps."""
        socket_path = self.site.folder / CONTROL
        return resized(socket_path, self.site.subject, resource, limit)

    def greet(self) -> None:
        """CPING on an AJP connector, a page on an HTTP one."""
        if self.site.endpoint.protocol == "ajp":
            ajp_ping(self.site.connect)
        else:
            where = str(self.site.endpoint)
            http_get(self.site.connect, where, self._application.ready_path)
