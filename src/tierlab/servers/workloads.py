"""The workloads that there are, by the name that experiments call them."""

from __future__ import annotations

from datetime import date

from tierlab import experiment
from tierlab.environments.environment import Environment
from tierlab.servers import rubbos
from tierlab.servers.static import static
from tierlab.servers.system import Workload


def check_built(shape: experiment.System) -> None:
    """Raise `UserError` if the workload is not built."""
    if shape.workload == "rubbos":
        rubbos.application().check()


def workload(
    shape: experiment.System, environment: Environment, *, seed: int, load_day: date
) -> Workload:
    """What is deployed; `seed` and `load_day` (see `rubbos`) make the data, where there are any."""
    if shape.workload == "static":
        return static(environment)
    return rubbos.rubbos(environment, scale=shape.scale, seed=seed, load_day=load_day)
