"""Olio as it is deployed: PHP behind a web server, on MariaDB or PostgreSQL, with memcached in
front of the database and a geocoder of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from tierlab.environments.environment import Environment
from tierlab.servers import php
from tierlab.servers.application import PhpApplication
from tierlab.servers.content import Content, Fidelity
from tierlab.servers.httpd import Httpd
from tierlab.servers.httpd_php import HttpdPhp
from tierlab.servers.mariadb import MariaDB
from tierlab.servers.memcached import Memcached
from tierlab.servers.nginx import Nginx
from tierlab.servers.php_fpm import PhpFpm
from tierlab.servers.postgresql import PostgreSQL
from tierlab.tables.rules import RunRules
from tierlab.workloads.olio import pictures, shape, verdict
from tierlab.workloads.olio.load import OlioLoader
from tierlab.workloads.olio.operations import CYCLE_NS
from tierlab.workloads.olio.population import Population, concurrent_users
from tierlab.workloads.olio.users import HOME, MIX, matrix, users
from tierlab.workloads.populated import PopulatedWorkload
from tierlab.workloads.sessions.mix import shares
from tierlab.workloads.workload import DataKey, TierDeclaration


class Olio(PopulatedWorkload):
    """The calendar of social events."""

    name = shape.NAME
    loader = OlioLoader
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {
        "web": TierDeclaration(
            "The web servers: static files, and gateways to the application server.",
            (Nginx, Httpd),
            ("app",),
            most=8,
        ),
        "app": TierDeclaration(
            "The application server; pictures lie in its own folder, so that there is one.",
            (PhpFpm,),
            ("cache", "geocoder", "db"),
        ),
        "cache": TierDeclaration(
            "What keeps the home page.",
            (Memcached,),
            most=4,
            instances="Instances; a name is kept by one of them.",
        ),
        "geocoder": TierDeclaration("What knows where addresses are: PHP of its own.", (HttpdPhp,)),
        "db": TierDeclaration("The database.", (MariaDB, PostgreSQL)),
    }
    mixes = (MIX,)
    usual_mix = MIX
    cycle_ns = CYCLE_NS
    lockable = ("socialevent", "person", "socialeventtag")
    form_path = shape.FORM_PATH
    entry_paths = shape.ENTRY_PATHS
    place = shape.APPLICATION
    files = php.extension_files("gd", "memcached")

    def check(self) -> None:
        """Raise `UserError` if a part of the application or of the geocoder is missing."""
        super().check()
        self._geocoder().check()

    def application(self) -> PhpApplication:
        """Olio as it is: nothing of it is built."""
        return PhpApplication(
            name=shape.NAME,
            documents=shape.DOCUMENT_ROOT,
            library=shape.APPLICATION / "library",
            dynamic_prefix=shape.DYNAMIC_PREFIX,
            ready_path=shape.READY_PATH,
            extensions=shape.EXTENSIONS,
        )

    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:
        """The application with the pictures of generated rows, the data, and the geocoder."""
        made = super().content(environment, data, fidelity)
        pages = replace(self.application(), seed=pictures.folder())
        return replace(made, pages=pages, apart={shape.GEOCODER: self._geocoder()})

    def rules(self, mix: str) -> RunRules:  # noqa: ARG002 - there is one
        """The published client's."""
        return verdict.rules(shares(matrix(), HOME))

    def most_users(self, scale: float) -> int:
        """As many as the data was grown for: more would log in as one another."""
        return concurrent_users(scale)

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:
        """Users by the published transition matrix."""
        return users(mix, fidelity, Population.at(data.scale, data.load_day))

    def _geocoder(self) -> PhpApplication:
        return PhpApplication(
            name=shape.GEOCODER,
            documents=shape.GEOCODER_ROOT / "public",
            library=shape.GEOCODER_ROOT / "library",
            dynamic_prefix=shape.GEOCODER_PREFIX,
            ready_path=shape.GEOCODER_READY_PATH,
            extensions=(),
        )
