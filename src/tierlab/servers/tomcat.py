"""Tomcat as the application tier: a Java application with Tomcat embedded in it.

The application is a jar with its libraries in ``lib`` beside it. It takes a properties file by
``-D<name>.config`` whose keys are `Tomcat.render`'s, and ends on SIGTERM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar

from tierlab.environments.domain import Domain
from tierlab.machine.programs import Program
from tierlab.servers.base import Options, Server, Settings
from tierlab.servers.class_archive import ARCHIVE, FOLDER, class_archive, rehearsed
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.greetings import ajp_ping, http_get
from tierlab.servers.orders import resized
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Duration, Size, Whole
from tierlab.values.quantities import MIB, MILLISECOND, SECOND

EMBEDDED = re.compile(r"tomcat-embed-core-(.+)\.jar")
CONTROL = "soft.sock"
"""In the domain's folder: where the application takes orders to resize its soft resources."""


class TomcatOptions(Options):
    """What is Tomcat's alone."""

    heap: Annotated[int, Size("32MiB", "1TiB", step="1MiB")] = 256 * MIB
    """The JVM's heap, from the start and at most."""


class Tomcat(Server):
    """One JVM with the application, its connector and its database pool."""

    kind = "tomcat"
    programs: ClassVar[Mapping[str, str]] = {"java": "openjdk-17-jre-headless"}
    version_argument = "-version"
    ports: ClassVar[Mapping[str, int]] = {"ajp": 8009, "http": 8080}
    calls = ("mysql", "postgresql")
    soft_resources = declared(
        SoftResource(
            "threads",
            Whole(1, 10_000),
            200,
            "maxThreads",
            "requests worked on at once",
            resizable=True,
        ),
        backlog(100, "acceptCount", name="accept_count"),
        SoftResource(
            "max_connections", Whole(1, 65_535), 8192, "maxConnections", "connections open at once"
        ),
        SoftResource(
            "pool",
            Whole(1, 10_000),
            64,
            "maximumPoolSize",
            "connections to the database, per server",
            resizable=True,
        ),
        SoftResource(
            "pool_timeout",
            Duration("250ms", "10m", step="1ms"),
            30 * SECOND,
            "connectionTimeout",
            "how long a request waits for a database connection before it fails",
        ),
    )
    own_options = TomcatOptions
    profile_programs: ClassVar[Mapping[str, str]] = {"jcmd": "openjdk-17-jdk-headless"}
    holdable = ("pool", "threads")
    waits_without_worker = True
    collects = True
    options: TomcatOptions
    _share: Sequence[str] = ()
    """The Java machine's option for its classes' archive."""

    @classmethod
    def room(cls, settings: Settings) -> int:
        """The Java machine is as large again as a small heap."""
        assert isinstance(settings.options, TomcatOptions)
        return settings.options.heap + 192 * MIB

    @classmethod
    def versions(cls, program: Program, libraries: Path | None) -> dict[str, str | None]:
        """It is a library of the application, and what runs it is ``java``."""
        names = [] if libraries is None else [path.name for path in libraries.glob("*.jar")]
        found = (match[1] for name in names if (match := EMBEDDED.fullmatch(name)))
        return {"java": program.number, cls.kind: next(found, None)}

    def render(self) -> dict[str, str]:
        """The application's properties."""
        folder, endpoint, soft = self.site.folder, self.site.endpoint, self.soft
        login = self.content.credentials
        properties = {
            f"{endpoint.protocol}.address": endpoint.address,
            f"{endpoint.protocol}.port": endpoint.port,
            "threads.max": soft["threads"],
            "accept.count": soft["accept_count"],
            "connections.max": soft["max_connections"],
            "pool.size": soft["pool"],
            "pool.timeout.ms": soft["pool_timeout"] // MILLISECOND,
            "jdbc.url": self._jdbc_url(),
            "jdbc.user": login.user,
            "jdbc.password": login.password,
            "access.log": folder / "logs" / "access.log",
            "soft.log": folder / "logs" / "soft.log",
            # None where nobody would reach it: in a domain with a kernel of its own.
            "soft.socket": folder / CONTROL if self.site.domain.inside() is None else "",
            "work.dir": folder / "work",
            "fidelity": self.content.fidelity,
        }
        text = "".join(f"{key}={value}\n" for key, value in properties.items())
        return {f"{self.content.application.name}.properties": text}

    def _jdbc_url(self) -> str:
        """No TLS, so that the wire can be read; each statement is one message with its values."""
        database, name = self.site.upstreams[0], self.content.credentials.database
        if database.protocol == "postgresql":
            options = "sslmode=disable&gssEncMode=disable&preferQueryMode=simple"
            return f"jdbc:postgresql://{database}/{name}?{options}"
        # Tiers are told apart on the wire by their addresses.
        own = self.site.endpoint.address
        return f"jdbc:mariadb://{database}/{name}?localSocketAddress={own}&sslMode=disable"

    def prepare(self) -> None:
        """The program, and its classes' archive where there can be one."""
        self._put_program()
        application = self.content.application
        jars = [application.jar, *sorted(application.libraries.glob("*.jar"))]
        archive = class_archive(self.site, self.kind, jars, self._rehearse)
        if archive is not None:
            self.site.domain.put(archive, ARCHIVE)
            self._share = [f"-XX:SharedArchiveFile={ARCHIVE}"]

    def _put_program(self) -> None:
        """A copy: the original may lie where the servers' user cannot read it."""
        domain = self.site.domain
        domain.put(self.content.application.jar, "app.jar")
        domain.put(self.content.application.libraries, "lib")
        domain.make_folder("work")
        domain.make_folder("tmp")
        domain.make_folder("logs")

    def _rehearse(self, domain: Domain) -> Path:
        """Start another like this, with one connection and the usual heap, and stop it again.

        It speaks HTTP, so that its greeting is a page: that has more classes loaded than a CPING.
        Not at a port of AJP's, which may be listened to. An archive does not fit heaps of 32 GiB
        and more: references are longer there.
        """
        endpoint = Endpoint(self.site.endpoint.address, self.ports["http"], "http")
        site = replace(self.site, domain=domain, endpoint=endpoint)
        settings = Settings({**self.soft, "pool": 1}, TomcatOptions())
        another = Tomcat(site, settings, self.content)
        for name, text in another.render().items():
            domain.write(name, text)
        another._put_program()
        domain.make_folder(FOLDER)
        another._share = [f"-XX:ArchiveClassesAtExit={FOLDER}/{ARCHIVE}"]
        return rehearsed(another)

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
        folder, name = self.site.folder, self.content.application.name
        return [
            "java",
            *self._share,
            # Its compiler has another use for that register.
            *(["-XX:+PreserveFramePointer"] if self.site.stacks else []),
            f"-Xms{self.options.heap}",
            f"-Xmx{self.options.heap}",
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
            http_get(self.site.connect, where, self.content.application.ready_path)
