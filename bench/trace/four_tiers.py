"""RUBBoS on its four tiers in a network namespace, and the agent's capture beside it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from traced_servers import TracedServers

from tierlab import experiment
from tierlab.deploy.system import System
from tierlab.workloads.workload import DataKey

WEB = ("127.0.1.1", 8080)
SERVERS = (
    {"name": "web.1", "address": "127.0.1.1", "port": 8080, "protocol": "http1"},
    {"name": "app.1", "address": "127.0.2.1", "port": 8009, "protocol": "ajp13"},
    {
        "name": "lb.1",
        "address": "127.0.3.1",
        "port": 3306,
        "protocol": "mysql",
        "pass_through": True,
    },
    {"name": "db.1", "address": "127.0.4.1", "port": 3306, "protocol": "mysql"},
)


class FourTiers(TracedServers):
    """The system, not started yet. `stop` removes everything, whatever was started."""

    def __init__(self, trial: str, scale: float, folder: Path, *, stacks: bool = False) -> None:
        super().__init__(trial, SERVERS, folder)
        shape = experiment.System.of({"workload": "rubbos", "scale": scale})
        data = DataKey(scale, 1, date(2026, 11, 20))
        content = shape.application.content(self.native, data, shape.fidelity)
        self.system = System(shape, content, self.native, folder / "logs", stacks=stacks)

    def start(self) -> None:
        self.system.start(lambda _step: None)

    def stop(self) -> None:
        try:
            self.system.stop()
        finally:
            super().stop()
