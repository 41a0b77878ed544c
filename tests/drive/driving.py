"""One run of the driver with its results."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from tierlab.observe.agent import binary
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.users import users

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
RAMP_UP = 100 * MILLISECOND
POPULATION = Population(0.01, date(2026, 3, 10))


def table(folder: Path, name: str) -> pd.DataFrame:
    with pa.OSFile(str(folder / f"{name}.arrows")) as file:
        return pa.ipc.open_stream(file).read_all().to_pandas()


def target(port: int) -> dict[str, Any]:
    return {"address": "127.0.0.1", "port": port, "host": None}


@dataclass(frozen=True)
class Driven:
    """What one run of the driver left."""

    folder: Path
    lines: list[dict[str, Any]]
    status: int
    said: str

    @property
    def requests(self) -> pd.DataFrame:
        return table(self.folder, "requests")

    @property
    def events(self) -> pd.DataFrame:
        return table(self.folder, "drive.events")

    @property
    def summary(self) -> dict[str, Any]:
        return self.lines[-1]["summary"]


class Driver:
    """Starts the driver in a folder; keys of `changes` replace those of a short plan."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(
        self,
        port: int,
        workload: dict[str, Any] | None = None,
        *,
        seconds: float = 1.0,
        think_ms: float = 20.0,
        prefix: tuple[str, ...] = (),
        **changes: Any,
    ) -> subprocess.Popen[str]:
        self.folder.mkdir(exist_ok=True)
        workload = workload or users("read-write", "corrected", POPULATION)
        (self.folder / "workload.json").write_text(json.dumps(workload))
        plan = {
            "targets": [target(port)],
            "workload": "workload.json",
            "users": 20,
            "seed": 1,
            "loop": {"mode": "closed", "think_ns": int(think_ms * MILLISECOND)},
            "phases": [
                {"name": "ramp_up", "duration_ns": RAMP_UP},
                {"name": "runtime", "duration_ns": int(seconds * SECOND)},
            ],
        } | changes
        (self.folder / "plan.json").write_text(json.dumps(plan))
        command = (*prefix, str(binary()), "drive", "--plan", str(self.folder / "plan.json"))
        return subprocess.Popen(
            (*command, "--out", str(self.folder)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def end(self, process: subprocess.Popen[str]) -> Driven:
        out, said = process.communicate(timeout=120)
        lines = [json.loads(line) for line in out.splitlines()]
        return Driven(self.folder, lines, process.returncode, said)

    def __call__(self, port: int, workload: dict[str, Any] | None = None, **keys: Any) -> Driven:
        driven = self.end(self.start(port, workload, **keys))
        assert driven.status == 0, driven.said
        return driven
