"""TPC-H as it is deployed: PostgreSQL, which users send their queries to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tierlab.environments.environment import Environment
from tierlab.servers.application import Pages
from tierlab.servers.content import Content, Fidelity
from tierlab.servers.database import Credentials
from tierlab.servers.postgresql import PostgreSQL
from tierlab.workloads.tpch import generate, streams
from tierlab.workloads.tpch.load import TpchLoader
from tierlab.workloads.workload import DataKey, TierDeclaration, Workload


class Tpch(Workload):
    """Queries of decision support."""

    name = TpchLoader.name
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {
        "db": TierDeclaration("The database.", (PostgreSQL,)),
    }
    mixes = streams.MIXES
    usual_mix = streams.MIXES[0]
    users_speak = "postgresql"
    lockable = ("lineitem", "orders", "customer")

    def check(self) -> None:
        """Raise `UserError` if the program that makes the data is missing."""
        generate.generator()

    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:
        """A loader of the data; there are no pages."""
        loader = TpchLoader(
            seed=data.seed,
            scale=data.scale,
            load_day=data.load_day,
            scratch=environment.work / "load",
        )
        pages = Pages(environment.work / "documents", "/")
        return Content(pages, loader, Credentials.drawn(self.name), fidelity)

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:  # noqa: ARG002
        """Streams of queries."""
        return streams.users(mix, data.scale, data.seed)
