"""RUBBoS as it is deployed: httpd, Tomcat, HAProxy and MariaDB, with data as of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tierlab.servers.application import Application
from tierlab.servers.content import Fidelity
from tierlab.servers.haproxy import HAProxy
from tierlab.servers.httpd import Httpd
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.pgpool import Pgpool
from tierlab.servers.postgresql import PostgreSQL
from tierlab.servers.tomcat import Tomcat
from tierlab.workloads.populated import PopulatedWorkload
from tierlab.workloads.rubbos import shape
from tierlab.workloads.rubbos.load import RubbosLoader
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.users import MIXES, users
from tierlab.workloads.workload import DataKey, TierDeclaration


class Rubbos(PopulatedWorkload):
    """The bulletin board."""

    name = shape.NAME
    loader = RubbosLoader
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {
        "web": TierDeclaration(
            "The web servers: static pages, and gateways to the application servers.",
            (Httpd,),
            ("app",),
            most=8,
        ),
        "app": TierDeclaration(
            "The application servers, with the workload's servlets.", (Tomcat,), ("lb",), most=8
        ),
        "lb": TierDeclaration(
            "The load balancer between the application server and the databases.",
            (HAProxy, Pgpool),
            ("db",),
        ),
        "db": TierDeclaration(
            "The database: one server, or two to four.",
            (MariaDB, PostgreSQL),
            most=4,
            instances="Instances; two to four of MariaDB's form a Galera cluster, to those of"
            " PostgreSQL's pgpool-II writes whatever is written.",
        ),
    }
    mixes = tuple(MIXES)
    usual_mix = "read-write"
    lockable = ("stories", "comments", "users")
    form_path = shape.FORM_PATH
    entry_paths = shape.ENTRY_PATHS
    place = shape.APPLICATION_JAR
    libraries = shape.APPLICATION_LIBRARIES

    def application(self) -> Application:
        """RUBBoS as it is built."""
        return Application(
            name=shape.NAME,
            jar=shape.APPLICATION_JAR,
            libraries=shape.APPLICATION_LIBRARIES,
            documents=shape.DOCUMENT_ROOT,
            dynamic_prefix=shape.DYNAMIC_PREFIX,
            ready_path=shape.READY_PATH,
        )

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:
        """Readers and authors by their published transition tables."""
        return users(mix, fidelity, Population(data.scale, data.load_day))
