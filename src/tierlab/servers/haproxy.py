"""HAProxy in TCP mode between the application server and the databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tierlab.servers.base import Server
from tierlab.servers.greetings import DATABASE
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Whole


class HAProxy(Server):
    """One balancer: a connection goes to the database with the fewest.

    It hands bytes on, so a connection stays with one database for its life. It makes no checks of
    its own: a login a second would be counted among the application's statements.
    """

    kind = "haproxy"
    programs: ClassVar[Mapping[str, str]] = {"haproxy": "haproxy"}
    version_argument = "-v"

    passes_through = True
    soft_resources = declared(
        SoftResource(
            "max_connections", Whole(1, 100_000), 4096, "maxconn", "connections open at once"
        ),
        backlog(1024, "backlog"),
    )

    def render(self) -> dict[str, str]:
        """haproxy.cfg."""
        endpoint = self.site.endpoint
        most = self.soft["max_connections"]
        lines = [
            "global",
            f"    maxconn {most}",
            "    hard-stop-after 2s",
            "defaults",
            "    mode tcp",
            "    timeout connect 10s",
            # A pooled connection may be idle for a whole trial.
            "    timeout client 24h",
            "    timeout server 24h",
            "    timeout queue 60s",
            "frontend applications",
            f"    bind {endpoint} backlog {self.soft['backlog']}",
            f"    maxconn {most}",
            "    default_backend databases",
            "backend databases",
            "    balance leastconn",
            # Tiers are told apart on the wire by their addresses.
            f"    source {endpoint.address}",
            *(
                f"    server {number} {database}"
                for number, database in enumerate(self.site.upstreams, 1)
            ),
        ]
        return {"haproxy.cfg": "\n".join(lines) + "\n"}

    def prepare(self) -> None:
        """Nothing."""

    def command(self) -> list[str]:
        """Stay in the foreground."""
        return ["haproxy", "-db", "-f", "haproxy.cfg"]

    def greet(self) -> None:
        """A statement through it."""
        login = self.content.credentials
        select = DATABASE[self.site.endpoint.protocol]
        select(self.site.connect, login.user, login.password, login.database)
