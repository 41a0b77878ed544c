"""RUBBoS as a workload to deploy: its build in this source tree, its data as of today."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tierlab.environments.environment import Environment
from tierlab.servers.application import Application
from tierlab.servers.database import Credentials
from tierlab.servers.system import Workload
from tierlab.workloads.rubbos import shape
from tierlab.workloads.rubbos.load import RubbosLoader

PROJECT = Path(__file__).resolve().parents[3]


def application() -> Application:
    """RUBBoS as it is built in this source tree."""
    return Application(
        name=shape.NAME,
        jar=shape.application_jar(PROJECT),
        libraries=shape.application_libraries(PROJECT),
        documents=shape.document_root(PROJECT),
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
