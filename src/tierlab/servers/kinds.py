"""The servers that there are, by the kind that experiments call them."""

from __future__ import annotations

from collections.abc import Mapping

from tierlab.servers.address import Address
from tierlab.servers.base import Server
from tierlab.servers.command import Command
from tierlab.servers.haproxy import HAProxy
from tierlab.servers.httpd import Httpd
from tierlab.servers.httpd_php import HttpdPhp
from tierlab.servers.image import Image
from tierlab.servers.kernels import Kernels
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.memcached import Memcached
from tierlab.servers.nginx import Nginx
from tierlab.servers.nodejs import NodeJs
from tierlab.servers.pgpool import Pgpool
from tierlab.servers.php_fpm import PhpFpm
from tierlab.servers.postgresql import PostgreSQL
from tierlab.servers.redis import Redis
from tierlab.servers.tomcat import Tomcat

KINDS: Mapping[str, type[Server]] = {
    server.kind: server
    for server in (
        *(Httpd, HttpdPhp, Nginx, Tomcat, PhpFpm, HAProxy, Pgpool, Memcached, Redis),
        *(MariaDB, PostgreSQL, Kernels, Command, Image, NodeJs, Address),
    )
}
"""In a request's order."""
