"""nginx as the web tier: static pages from a document root, the rest to the app tier, if there is
one.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import ClassVar

from tierlab.servers.base import CONSOLE, DOCUMENTS, Server
from tierlab.servers.greetings import http_get
from tierlab.servers.media_types import MEDIA_TYPES
from tierlab.servers.php import SCRIPT
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Duration, Whole
from tierlab.values.quantities import SECOND

ACCESS_LOG_FORMAT = (
    "$msec $request_time $http_x_request_id $status $body_bytes_sent $request_length $bytes_sent"
    ' $remote_addr $remote_port $connection_requests "$request_method $uri $server_protocol"'
)
"""End (seconds of the epoch) and duration (seconds), both to the millisecond, request id, final
status, body bytes, bytes in and out, client address and port, requests on this connection, request
line."""
LARGEST_BODY = "8m"
"""What PHP takes (post_max_size); nginx's own 1m is little more than a photo."""
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
PARAMETERS = {
    "QUERY_STRING": "$query_string",
    "REQUEST_METHOD": "$request_method",
    "CONTENT_TYPE": "$content_type",
    "CONTENT_LENGTH": "$content_length",
    "SCRIPT_NAME": "$fastcgi_script_name",
    "REQUEST_URI": "$request_uri",
    "DOCUMENT_URI": "$document_uri",
    "SERVER_PROTOCOL": "$server_protocol",
    "GATEWAY_INTERFACE": "CGI/1.1",
    "REMOTE_ADDR": "$remote_addr",
    "REMOTE_PORT": "$remote_port",
    "SERVER_ADDR": "$server_addr",
    "SERVER_PORT": "$server_port",
    "SERVER_NAME": "$server_name",
}
"""Of FastCGI; a request's headers go along as HTTP_*."""


class Nginx(Server):
    """One nginx; alone, or with FastCGI or HTTP to the application server."""

    kind = "nginx"
    programs: ClassVar[Mapping[str, str]] = {"nginx": "nginx-light"}
    version_argument = "-v"
    ports: ClassVar[Mapping[str, int]] = {"http": 8080}
    calls = ("fcgi", "http")
    soft_resources = declared(
        SoftResource(
            "processes", Whole(1, 1_000), 2, "worker_processes", "processes that serve requests"
        ),
        SoftResource(
            "max_connections",
            Whole(16, 65_535),
            4096,
            "worker_connections",
            "connections open at once, per process, those to the application server among them",
        ),
        backlog(511, "listen backlog="),
        SoftResource(
            "keep_alive_timeout",
            Duration("1s", "1h", step="1s"),
            5 * SECOND,
            "keepalive_timeout",
            "how long an idle client connection is kept",
        ),
    )
    # Graceful: requests in progress are finished.
    stop_signal = signal.SIGQUIT
    own_logs = ("logs/error.log", CONSOLE)
    disk = (DOCUMENTS,)

    def render(self) -> dict[str, str]:
        """nginx.conf: all that it needs and nothing from the system's configuration."""
        folder, endpoint, soft = self.site.folder, self.site.endpoint, self.soft
        lines = [
            "daemon off;",
            f"pid {folder}/run/nginx.pid;",
            f"error_log {folder}/logs/error.log warn;",
            f"worker_processes {soft['processes']};",
            f"events {{ worker_connections {soft['max_connections']}; }}",
            "http {",
            f"types {{ {' '.join(f'{name} {ending};' for ending, name in MEDIA_TYPES.items())} }}",
            "charset utf-8;",
            f"client_max_body_size {LARGEST_BODY};",
            "server_tokens off;",
            f"log_format requests '{ACCESS_LOG_FORMAT}';",
            f"access_log {folder}/logs/access.log requests buffer=64k flush=1s;",
            *(f"{name}_temp_path {folder}/tmp/{name};" for name in TEMPORARY),
            f"keepalive_timeout {soft['keep_alive_timeout'] // SECOND}s;",
            "keepalive_requests 1000000000;",
            "reset_timedout_connection off;",
            *self._applications(),
            "server {",
            f"listen {endpoint} backlog={soft['backlog']};",
            f"server_name {endpoint.address};",
            f"root {folder}/{DOCUMENTS};",
            *self._gateway(),
            "}",
            "}",
        ]
        return {"nginx.conf": "\n".join(lines) + "\n"}

    def _applications(self) -> list[str]:
        if not self.site.upstreams:
            return []
        # max_fails=0: a refused connection must not shut a server out.
        members = [f"server {app} max_fails=0;" for app in self.site.upstreams]
        return ["upstream application {", *members, "}"]

    def _gateway(self) -> list[str]:
        if not self.site.upstreams:
            return []
        module = {"fcgi": "fastcgi", "http": "proxy"}[self.site.upstreams[0].protocol]
        pass_to = "application" if module == "fastcgi" else "http://application"
        return [
            f"location {self.content.dynamic.dynamic_prefix} {{",
            f"{module}_pass {pass_to};",
            # Tiers are told apart on the wire by their addresses.
            f"{module}_bind {self.site.endpoint.address};",
            f"{module}_next_upstream off;",
            f"{module}_read_timeout 300s;",
            *(self._parameters() if module == "fastcgi" else ()),
            "}",
        ]

    def _parameters(self) -> list[str]:
        found = {**PARAMETERS, "SCRIPT_FILENAME": SCRIPT.format("$fastcgi_script_name")}
        return [f'fastcgi_param {name} "{value}";' for name, value in found.items()]

    def prepare(self) -> None:
        """The static pages, and folders for its own run-time files."""
        domain = self.site.domain
        domain.put(self.content.pages.documents, DOCUMENTS)
        for name in ("run", "logs", "tmp"):
            domain.make_folder(name)

    def command(self) -> list[str]:
        """Stay in the foreground with this configuration only."""
        folder = self.site.folder
        return ["nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/logs/error.log"]

    def greet(self) -> None:
        """A page from the far end: it answers only if all tiers behind do."""
        http_get(self.site.connect, str(self.site.endpoint), self.content.pages.ready_path)
