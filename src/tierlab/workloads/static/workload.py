"""The static page as it is deployed: nothing is behind the web server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tierlab.environments.environment import Environment
from tierlab.servers.application import Pages
from tierlab.servers.content import Content, Fidelity
from tierlab.servers.database import Credentials
from tierlab.servers.httpd import Httpd
from tierlab.workloads.static import page
from tierlab.workloads.workload import DataKey, TierDeclaration, Workload


class Static(Workload):
    """One page of the web server's own."""

    name = page.NAME
    entry_paths = (page.PATH,)
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {
        "web": TierDeclaration("The web servers.", (Httpd,), most=8),
    }

    def check(self) -> None:
        """Nothing is built."""

    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:  # noqa: ARG002
        """The page, which is always the same."""
        documents = environment.work / "documents"
        page.write(documents)
        return Content(Pages(documents, page.PATH), None, Credentials.drawn(page.NAME), fidelity)

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:  # noqa: ARG002
        """Each asks for it again and again."""
        return page.users()
