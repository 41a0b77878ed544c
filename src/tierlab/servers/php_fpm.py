"""PHP-FPM as the application tier: a process for each request, asked by FastCGI."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import ClassVar

from tierlab.servers import php
from tierlab.servers.base import CONSOLE, Options, Server, Settings
from tierlab.servers.fastcgi import fastcgi_get
from tierlab.servers.soft import SoftResource, backlog, declared
from tierlab.values.kinds import Whole
from tierlab.values.quantities import MIB

ACCESS_LOG_FORMAT = "%{micro}d %{HTTP_X_REQUEST_ID}e %s %m %r%Q%q"
"""Duration (µs), request id, status, method, path and query."""


class PhpOptions(Options):
    """What is PHP's alone."""

    persistent: bool = True
    """Whether each process keeps its connection to the database from request to request."""
    jit: bool = False
    """Whether PHP compiles functions as it loads them, and does not interpret them. Only then have
    they names in a profile."""


class PhpFpm(Server):
    """One master with as many processes as there are requests worked on at once, all from the
    start.
    """

    kind = "php-fpm"
    programs: ClassVar[Mapping[str, str]] = {f"php-fpm{php.VERSION}": "php-fpm"}
    ports: ClassVar[Mapping[str, int]] = {"fcgi": 9000}
    calls = php.CALLS
    soft_resources = declared(
        SoftResource(
            "threads", Whole(1, 10_000), 32, "pm.max_children", "requests worked on at once"
        ),
        backlog(511, "listen.backlog"),
    )
    own_options = PhpOptions
    holdable = ("threads",)
    options: PhpOptions
    # Graceful: requests in progress are finished.
    stop_signal = signal.SIGQUIT
    own_logs = ("logs/error.log", CONSOLE)
    environment: ClassVar[Mapping[str, str]] = {"PHP_INI_SCAN_DIR": ""}

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Some 8 MiB for each process, and the code cache."""
        return settings.soft["threads"] * 8 * MIB + 192 * MIB

    def render(self) -> dict[str, str]:
        """fpm.conf and php.ini."""
        folder, soft = self.site.folder, self.soft
        told = php.variables(self.site, self.content, persistent=self.options.persistent)
        lines = [
            "[global]",
            f"pid = {folder}/run/fpm.pid",
            f"error_log = {folder}/logs/error.log",
            "daemonize = no",
            f"[{php.application(self.content).name}]",
            f"listen = {self.site.endpoint}",
            f"listen.backlog = {soft['backlog']}",
            "pm = static",
            f"pm.max_children = {soft['threads']}",
            "pm.max_requests = 0",
            f"access.log = {folder}/logs/access.log",
            f'access.format = "{ACCESS_LOG_FORMAT}"',
            "catch_workers_output = yes",
            f"chdir = {folder}",
            "clear_env = yes",
            *(f'env[{name}] = "{value}"' for name, value in told.items()),
        ]
        ini = php.ini(self.site, self.content, compiled=self.options.jit)
        return {"fpm.conf": "\n".join(lines) + "\n", "php.ini": ini}

    def prepare(self) -> None:
        """The application."""
        php.lay_down(self.site, self.content)

    def command(self) -> list[str]:
        """Stay in the foreground with these files only."""
        folder = self.site.folder
        program = next(iter(self.programs))
        return [program, "--nodaemonize", "-c", f"{folder}/php.ini", "-y", f"{folder}/fpm.conf"]

    def greet(self) -> None:
        """A page that the database has a part in."""
        fastcgi_get(self.site.connect, php.SCRIPT, self.content.pages.ready_path)
