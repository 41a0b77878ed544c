"""The static page as a workload to deploy."""

from __future__ import annotations

from tierlab.environments.environment import Environment
from tierlab.servers.application import Pages
from tierlab.servers.database import Credentials
from tierlab.servers.system import Workload
from tierlab.workloads.static.page import NAME, PATH, write


def static(environment: Environment) -> Workload:
    """The page, with nothing behind the web server."""
    documents = environment.work / "documents"
    write(documents)
    return Workload(Pages(documents, PATH), loader=None, credentials=Credentials.drawn(NAME))
