"""The kernels as they are deployed: one server, which users ask for jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tierlab import installation
from tierlab.environments.environment import Environment
from tierlab.errors import UserError
from tierlab.servers import kernels
from tierlab.servers.application import Pages
from tierlab.servers.content import Content, Fidelity
from tierlab.servers.database import Credentials
from tierlab.workloads.kernels import jobs
from tierlab.workloads.workload import DataKey, TierDeclaration, Workload


class Kernels(Workload):
    """Jobs by request."""

    name = jobs.NAME
    tiers: ClassVar[Mapping[str, TierDeclaration]] = {
        "compute": TierDeclaration("The servers that run the jobs.", (kernels.Kernels,), most=8),
    }
    mixes = jobs.MIXES
    usual_mix = jobs.ALL
    form_path = jobs.READY_PATH
    entry_paths = (f"{jobs.path('data-parallel')}?size=2000", jobs.READY_PATH)
    place = kernels.BUILT

    def check(self) -> None:
        """Raise `UserError` if the program is not built."""
        if not kernels.BUILT.exists():
            raise UserError(f"{kernels.BUILT} is missing: {installation.REMEDY}.")

    def content(self, environment: Environment, data: DataKey, fidelity: Fidelity) -> Content:  # noqa: ARG002
        """Nothing but jobs."""
        documents = environment.work / "documents"
        pages = Pages(documents, jobs.READY_PATH)
        return Content(pages, None, Credentials.drawn(self.name), fidelity)

    def users(self, mix: str, fidelity: Fidelity, data: DataKey) -> dict[str, Any]:  # noqa: ARG002
        """Each asks for one job after the other, of the size that the data's scale gives."""
        return jobs.users(mix, data.scale)
