"""RUBBoS as a workload to deploy: as it is built, its data as of today."""

from __future__ import annotations

from datetime import date

from tierlab.environments.environment import Environment
from tierlab.servers.application import Application
from tierlab.servers.database import Credentials
from tierlab.servers.system import Workload
from tierlab.workloads.rubbos import shape
from tierlab.workloads.rubbos.load import RubbosLoader


def application() -> Application:
    """RUBBoS as it is built."""
    return Application(
        name=shape.NAME,
        jar=shape.APPLICATION_JAR,
        libraries=shape.APPLICATION_LIBRARIES,
        documents=shape.DOCUMENT_ROOT,
        dynamic_prefix=shape.DYNAMIC_PREFIX,
        ready_path=shape.READY_PATH,
    )


def rubbos(environment: Environment, *, scale: float, seed: int, load_day: date) -> Workload:
    """RUBBoS with the data of a scale and a seed, which ends the day before `load_day`, behind a
    password of its own.
    """
    return Workload(
        application=application(),
        loader=RubbosLoader(
            seed=seed,
            scale=scale,
            load_day=load_day,
            scratch=environment.work / "load",
        ),
        credentials=Credentials.drawn(shape.NAME),
    )
