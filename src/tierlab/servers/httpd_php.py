"""Apache httpd with PHP inside (mod_php): the web and the application tier in one, a process for
each request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from tierlab.servers import php
from tierlab.servers.base import Settings
from tierlab.servers.httpd_server import (
    BACKLOG,
    KEEP_ALIVE_TIMEOUT,
    MODULES,
    THREADS,
    HttpdServer,
    prefork,
)
from tierlab.servers.php_fpm import PhpOptions
from tierlab.servers.soft import declared
from tierlab.values.quantities import MIB


class HttpdPhp(HttpdServer):
    """One httpd, prefork, whose processes run the application."""

    kind = "httpd-php"
    programs: ClassVar[Mapping[str, str]] = {"apache2": "libapache2-mod-php"}
    files: ClassVar[Mapping[Path, str]] = {
        MODULES / f"libphp{php.VERSION}.so": "libapache2-mod-php",
    }
    calls = php.CALLS
    # A process each, with a connection to the database.
    soft_resources = declared(replace(THREADS, default=64), BACKLOG, KEEP_ALIVE_TIMEOUT)
    own_options = PhpOptions
    options: PhpOptions
    disk = ()
    document_root = php.PUBLIC

    @classmethod
    def room(cls, settings: Settings) -> int:
        """Some 8 MiB for each process, and the code cache."""
        return settings.soft["threads"] * 8 * MIB + 192 * MIB

    def modules(self) -> tuple[str, ...]:
        """PHP's processes have one thread each."""
        return ("mpm_prefork", "env")

    def processing(self) -> list[str]:
        """A process for each request."""
        return prefork(self.soft["threads"])

    def dynamic(self) -> list[str]:
        """Run by PHP."""
        told = php.variables(self.site, self.content, persistent=self.options.persistent)
        return [
            f"LoadModule php_module {MODULES}/libphp{php.VERSION}.so",
            f"PHPIniDir {self.site.folder}",
            *(f'SetEnv {name} "{value}"' for name, value in told.items()),
            f"<Location {self.content.dynamic.dynamic_prefix}>",
            "    SetHandler application/x-httpd-php",
            "</Location>",
        ]

    def render(self) -> dict[str, str]:
        """httpd.conf and php.ini."""
        ini = php.ini(self.site, self.content, compiled=self.options.jit)
        return {**super().render(), "php.ini": ini}

    def prepare(self) -> None:
        """The application, with its static pages."""
        php.lay_down(self.site, self.content)
