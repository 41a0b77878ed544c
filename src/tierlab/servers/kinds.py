"""The servers that there are, by the kind that experiments call them."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.servers.base import Server
from tierlab.servers.haproxy import HAProxy
from tierlab.servers.httpd import Httpd
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.tomcat import Tomcat

KINDS: Mapping[str, type[Server]] = {
    server.kind: server for server in (Httpd, Tomcat, HAProxy, MariaDB)
}
"""In a request's order."""
