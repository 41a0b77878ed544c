"""RUBBoS on its four tiers in a network namespace, and the agent's capture beside it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from tierlab import experiment
from tierlab.deploy.system import System
from tierlab.environments.ledger import Ledger
from tierlab.environments.native.native import Native
from tierlab.environments.process import Process
from tierlab.trial.agent import Verb
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
READY_S = 20.0


class FourTiers:
    """The system, not started yet. `stop` removes everything, whatever was started."""

    def __init__(self, trial: str, scale: float, folder: Path) -> None:
        self.folder = folder
        self.native = Native(Ledger(trial))
        shape = experiment.System.of({"workload": "rubbos", "scale": scale})
        data = DataKey(scale, 1, date(2026, 11, 20))
        content = shape.application.content(self.native, data, shape.fidelity)
        self.system = System(shape, content, self.native, folder / "logs")

    def start(self) -> None:
        self.system.start(lambda _step: None)

    def stop(self) -> None:
        try:
            self.system.stop()
        finally:
            self.native.destroy()

    @contextmanager
    def capturing(
        self, name: str, *, messages: bool = False, threads: int = 1
    ) -> Iterator[dict[str, Any]]:
        """Capture into a new folder of this name; what the agent says at its end is filled in."""
        out = self.folder / name
        out.mkdir()
        plan = {"interface": "lo", "servers": SERVERS, "messages": messages, "threads": threads}
        verb = Verb("capture", plan, out, out, self.spawn)
        deadline = time.monotonic() + READY_S
        while not verb.ready_line:
            assert time.monotonic() < deadline, verb.log.read_text()
            time.sleep(0.01)
        summary: dict[str, Any] = {}
        try:
            yield summary
        finally:
            verb.process.stop(READY_S)
        deadline = time.monotonic() + READY_S
        while verb.summary is None:
            assert time.monotonic() < deadline, verb.log.read_text()
            time.sleep(0.01)
        summary.update(verb.summary)

    def run(self, command: Sequence[str], timeout: float = 120) -> str:
        """Run a program in the namespace to its end; returns what it said."""
        log = self.folder / "program.log"
        process = self.spawn(command, log)
        assert process.stdout is not None
        said = process.stdout.read().decode()
        assert process.wait(timeout) == 0, log.read_text()
        return said

    def spawn(self, argv: Sequence[str], log: Path) -> Process:
        """Start a program in the namespace."""
        return self.native.spawn(argv, log=log)
