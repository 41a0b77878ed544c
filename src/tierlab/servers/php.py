"""PHP as its servers configure it: nothing of the system's own configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierlab.servers.application import PhpApplication
from tierlab.servers.base import Site
from tierlab.servers.content import Content
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.httpd_server import MODULES

INTERFACES: Mapping[str, str] = {
    "8.4": "20240924",
    "8.3": "20230831",
    "8.2": "20220829",
    "8.1": "20210902",
}
"""PHP's versions, the newest first, each with that of its interface (API), after which Debian and
Ubuntu name the folder of its extensions.
"""


def installed(root: Path = Path("/")) -> str:
    """The newest version below `root` that a server can run; Debian 12's where there is none."""
    for version in INTERFACES:
        programs = f"/usr/sbin/php-fpm{version}", f"{MODULES}/libphp{version}.so"
        if any((root / program.lstrip("/")).exists() for program in programs):
            return version
    return "8.2"


VERSION = installed()
EXTENSIONS_FOLDER = Path("/usr/lib/php", INTERFACES[VERSION])
PUBLIC, LIBRARY = "public", "library"
"""Where a server's folder has the application's pages, and what they include."""
SCRIPT = PUBLIC + "{}"
"""A page's file by its path, from the server's folder: the same whichever server is asked."""
CALLS = ("mysql", "postgresql", "memcached", "http")
"""The protocols by which an application calls others."""
EXTENSIONS: Mapping[str, tuple[str, ...]] = {
    "mysql": ("mysqlnd", "pdo", "pdo_mysql"),
    "postgresql": ("pdo", "pdo_pgsql"),
    # Debian's memcached brings objects into bytes by the other two.
    "memcached": ("igbinary", "msgpack", "memcached"),
    "http": (),
}
"""What each takes, besides what PHP consists of."""
DATABASES = ("mysql", "postgresql")
FILES = "files"
"""Where a server's folder has the files that the application keeps."""
SEED = "seed"
"""Where among them are those that it begins with."""


def extension_files(*names: str) -> dict[Path, str]:
    """Extensions that are packages of their own, as files, each with the Debian package."""
    return {EXTENSIONS_FOLDER / f"{name}.so": f"php-{name}" for name in names}


def application(content: Content) -> PhpApplication:
    """The content's application; only asked where a tier runs it."""
    assert isinstance(content.pages, PhpApplication)
    return content.pages


def lay_down(site: Site, content: Content) -> None:
    """Put the application into the server's folder."""
    domain, app = site.domain, application(content)
    domain.put(app.documents, PUBLIC)
    domain.put(app.library, LIBRARY)
    for name in ("logs", "run", "tmp", FILES):
        domain.make_folder(name)
    if app.seed is not None:
        domain.put(app.seed, f"{FILES}/{SEED}")


COMPILING: Mapping[str, str] = {
    # All functions as they are loaded: one that is not compiled has no name in a profile.
    "opcache.jit": "1205",
    "opcache.jit_buffer_size": "64M",
}
NAMED: Mapping[str, str] = {"opcache.jit_debug": "16"}
"""Has compiled functions named where perf looks (ZEND_JIT_DEBUG_PERF)."""


def ini(site: Site, content: Content, *, compiled: bool) -> str:
    """php.ini: its extensions, a code cache that never looks at the files again, errors logged.

    `compiled`: whether PHP compiles the application's functions.
    """
    called = (name for callee in site.upstreams for name in EXTENSIONS[callee.protocol])
    names = dict.fromkeys((*called, *application(content).extensions))
    settings = {
        "date.timezone": "UTC",
        "display_errors": "0",
        "log_errors": "1",
        "expose_php": "0",
        "sys_temp_dir": f"{site.folder}/tmp",
        "upload_tmp_dir": f"{site.folder}/tmp",
        "session.save_path": f"{site.folder}/tmp",
        "opcache.enable": "1",
        "opcache.validate_timestamps": "0",
        "opcache.lockfile_path": f"{site.folder}/tmp",
        "pdo_mysql.default_socket": "",
        **(COMPILING if compiled else {}),
        **(NAMED if compiled and site.profiled else {}),
    }
    lines = [f"extension={name}" for name in names]
    lines += ["zend_extension=opcache", *(f'{key}="{value}"' for key, value in settings.items())]
    return "\n".join(lines) + "\n"


def variables(site: Site, content: Content, *, persistent: bool) -> dict[str, str]:
    """What the application is told by its server."""
    told = {
        "PERSISTENT": str(int(persistent)),
        "FIDELITY": content.fidelity,
        "FILES": f"{site.folder}/{FILES}",
    }
    by_protocol: dict[str, list[Endpoint]] = {}
    for callee in site.upstreams:
        by_protocol.setdefault(callee.protocol, []).append(callee)
    for protocol, callees in by_protocol.items():
        if protocol in DATABASES:
            told |= _login(callees[0], content.credentials)
        else:
            told[protocol.upper()] = ",".join(map(str, callees))
    prefix = application(content).name.upper()
    return {f"{prefix}_{name}": value for name, value in told.items()}


def _login(database: Endpoint, login: Credentials) -> dict[str, str]:
    return {
        "DSN": _dsn(database, login.database),
        "USER": login.user,
        "PASSWORD": login.password,
    }


def _dsn(database: Endpoint, name: str) -> str:
    where = f"host={database.address};port={database.port};dbname={name}"
    if database.protocol == "mysql":
        return f"mysql:{where};charset=utf8mb4"
    # No TLS, so that the wire can be read.
    return f"pgsql:{where};sslmode=disable;gssencmode=disable"
