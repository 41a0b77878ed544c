"""RUBiS as it is deployed: PHP behind or inside a web server, on MariaDB or PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tierlab.servers.application import PhpApplication
from tierlab.servers.content import Fidelity
from tierlab.servers.haproxy import HAProxy
from tierlab.servers.httpd import Httpd
from tierlab.servers.httpd_php import HttpdPhp
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.nginx import Nginx
from tierlab.servers.pgpool import Pgpool
from tierlab.servers.php_fpm import PhpFpm
from tierlab.servers.postgresql import PostgreSQL
from tierlab.workloads.populated import PopulatedWorkload
from tierlab.workloads.rubis import shape
from tierlab.workloads.rubis.load import RubisLoader
from tierlab.workloads.rubis.population import Population
from tierlab.workloads.rubis.users import MIXES, users
from tierlab.workloads.workload import DataKey, TierDeclaration


class Rubis(PopulatedWorkload):
    """The auction site."""

    name = shape.NAME
    loader = RubisLoader
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {
        "web": TierDeclaration(
            "The web servers: static pages, and gateways to the application servers.",
            (Nginx, Httpd, HttpdPhp),
            ("app",),
            most=8,
        ),
        "app": TierDeclaration("The application servers.", (PhpFpm,), ("lb",), most=8),
        "lb": TierDeclaration(
            "What is between the application servers and several databases.",
            (Pgpool, HAProxy),
            ("db",),
        ),
        "db": TierDeclaration(
            "The database: one server, or two to four behind `lb`.",
            (PostgreSQL, MariaDB),
            most=4,
            instances="Instances; two to four of MariaDB's form a Galera cluster, of PostgreSQL's"
            " pgpool-II writes to all.",
        ),
    }
    mixes = tuple(MIXES)
    usual_mix = "bidding"
    lockable = ("items", "bids", "users")
    form_path = shape.FORM_PATH
    entry_paths = shape.ENTRY_PATHS
    place = shape.APPLICATION

    def absent(self, servers: Mapping[str, str], counts: Mapping[str, int]) -> dict[str, str]:
        """The web server may run the pages itself; one database needs nothing in front of it."""
        found = {}
        if servers["web"] == HttpdPhp.kind:
            found["app"] = f"{HttpdPhp.kind} runs the pages itself"
        if counts["db"] == 1:
            found["lb"] = "there is one database"
        return found

    def application(self) -> PhpApplication:
        """RUBiS as it is: nothing of it is built."""
        return PhpApplication(
            name=shape.NAME,
            documents=shape.DOCUMENT_ROOT,
            library=shape.APPLICATION / "library",
            dynamic_prefix=shape.DYNAMIC_PREFIX,
            ready_path=shape.READY_PATH,
            extensions=shape.EXTENSIONS,
        )

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:
        """Users by the published transition table."""
        return users(mix, fidelity, Population(data.scale, data.load_day))
