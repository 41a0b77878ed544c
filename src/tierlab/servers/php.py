"""PHP as its servers configure it: nothing of the system's own configuration."""

from __future__ import annotations

from tierlab.servers.application import PhpApplication
from tierlab.servers.base import Endpoint, Site
from tierlab.servers.content import Content

VERSION = "8.2"
"""Debian 12's."""
PUBLIC, LIBRARY = "public", "library"
"""Where a server's folder has the application's pages, and what they include."""
SCRIPT = PUBLIC + "{}"
"""A page's file by its path, from the server's folder: the same whichever server is asked."""
DATABASES = {
    "mysql": ("mysqlnd", "pdo", "pdo_mysql"),
    "postgresql": ("pdo", "pdo_pgsql"),
}
"""Extensions by the protocol to the database."""


def application(content: Content) -> PhpApplication:
    """The content's application; only asked where a tier runs it."""
    assert isinstance(content.pages, PhpApplication)
    return content.pages


def lay_down(site: Site, content: Content) -> None:
    """Put the application into the server's folder."""
    domain, app = site.domain, application(content)
    domain.put(app.documents, PUBLIC)
    domain.put(app.library, LIBRARY)
    domain.make_folder("logs")
    domain.make_folder("run")
    domain.make_folder("tmp")


def ini(site: Site, content: Content) -> str:
    """php.ini: its extensions, a code cache that never looks at the files again, errors logged."""
    (database,) = site.upstreams[:1]
    names = dict.fromkeys((*DATABASES[database.protocol], *application(content).extensions))
    settings = {
        "date.timezone": "UTC",
        "display_errors": "0",
        "log_errors": "1",
        "expose_php": "0",
        "sys_temp_dir": f"{site.folder}/tmp",
        "opcache.enable": "1",
        "opcache.validate_timestamps": "0",
        "opcache.lockfile_path": f"{site.folder}/tmp",
        "pdo_mysql.default_socket": "",
    }
    lines = [f"extension={name}" for name in names]
    lines += ["zend_extension=opcache", *(f'{key}="{value}"' for key, value in settings.items())]
    return "\n".join(lines) + "\n"


def variables(site: Site, content: Content, *, persistent: bool) -> dict[str, str]:
    """What the application is told by its server."""
    prefix, login = application(content).name.upper(), content.credentials
    return {
        f"{prefix}_DSN": _dsn(site.upstreams[0], login.database),
        f"{prefix}_USER": login.user,
        f"{prefix}_PASSWORD": login.password,
        f"{prefix}_PERSISTENT": str(int(persistent)),
        f"{prefix}_FIDELITY": content.fidelity,
    }


def _dsn(database: Endpoint, name: str) -> str:
    where = f"host={database.address};port={database.port};dbname={name}"
    if database.protocol == "mysql":
        return f"mysql:{where};charset=utf8mb4"
    # No TLS, so that the wire can be read.
    return f"pgsql:{where};sslmode=disable;gssencmode=disable"
