"""The four tools: how to get, start and read them. A connection carries a request, or is kept."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from measure import Cost, run

from tierlab.observe.agent import binary

CACHE = Path(__file__).resolve().parents[2] / "build" / "bench"
K6_MODULE = "go.k6.io/k6@v0.54.0"
LOCUST = "locust==2.32.0"
SECOND = 1_000_000_000
SOURCES = ["127.128.0.0/12"]


@dataclass(frozen=True)
class Load:
    """So many users for so many seconds, each thinking `think_s` between requests, on a connection
    of its own that is `kept` or a new one for each request.
    """

    users: int
    seconds: float
    think_s: float = 0.0
    ramp_s: float = 0.0
    kept: bool = False


@dataclass(frozen=True)
class Result:
    """What a tool did and cost."""

    requests: int
    cost: Cost

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for a request."""
        return self.cost.cpu_s / self.requests * 1e6

    @property
    def user_us(self) -> float:
        """The part of it outside the kernel."""
        return self.cost.user_s / self.requests * 1e6


class Tool(Protocol):
    """A load generator."""

    name: str

    def drive(self, port: int, load: Load, cores: list[int], folder: Path) -> Result: ...


class Tierlab:
    """This project's driver, which also writes every request to its table."""

    name = "tierlab"

    def __init__(self, threads: int = 1, priority: str = "realtime") -> None:
        self._how = {"threads": threads, "priority": priority}

    def drive(self, port: int, load: Load, cores: list[int], folder: Path) -> Result:
        (folder / "workload.json").write_text(json.dumps(_one_page()))
        plan = {
            "targets": [{"address": "127.0.0.1", "port": port, "host": None}],
            "workload": "workload.json",
            "users": load.users,
            "seed": 1,
            "loop": {"mode": "closed", "think_ns": int(load.think_s * SECOND)},
            "phases": [
                {"name": "ramp_up", "duration_ns": int(load.ramp_s * SECOND)},
                {"name": "runtime", "duration_ns": int(load.seconds * SECOND)},
            ],
            "connection": "keep_alive" if load.kept else "per_request",
            "sources": SOURCES,
            "images": False,
        } | self._how
        (folder / "plan.json").write_text(json.dumps(plan))
        command = [str(binary()), "drive", "--plan", "plan.json", "--out", "."]
        cost = run(command, cores, folder, {})
        return Result(int(summary(cost)["requests"]), cost)


def summary(cost: Cost) -> dict[str, Any]:
    """The driver's own summary."""
    said: dict[str, Any] = json.loads(cost.output.splitlines()[-1])["summary"]
    return said


def ready_s(cost: Cost) -> float:
    """Seconds from the driver's start until all users were there and the phases began."""
    began_ns: int = json.loads(cost.output.splitlines()[0])["start_ns"]
    return (began_ns - cost.started_ns) / SECOND


def _one_page() -> dict[str, object]:
    home = [["page", 1.0]]
    identity = {"numbers": [1, 1], "values": {}}
    return {
        "name": "one page",
        "home": "page",
        "states": [{"name": "page", "path": "/page.html"}],
        "sessions": [
            {"name": "all", "share": 1.0, "identity": identity, "transitions": {"page": home}}
        ],
    }


class Wrk:
    """wrk, which neither thinks nor records."""

    name = "wrk"

    def drive(self, port: int, load: Load, cores: list[int], folder: Path) -> Result:
        url = f"http://127.0.0.1:{port}/page.html"
        time = f"{max(1, round(load.seconds))}s"
        closing = [] if load.kept else ["-H", "Connection: close"]
        command = ["wrk", "-t1", f"-c{load.users}", f"-d{time}", *closing, url]
        cost = run(command, cores, folder, {})
        found = re.search(r"(\d+) requests in", cost.output)
        if found is None:
            raise SystemExit(f"wrk said something new: {cost.output[-300:]}")
        return Result(int(found[1]), cost)


class K6:
    """k6, built once from the module proxy."""

    name = "k6"
    _script = """
import http from 'k6/http';
import {{ sleep }} from 'k6';
export const options = {{ vus: {users}, duration: '{seconds}s', noConnectionReuse: true }};
export default function () {{ http.get('http://127.0.0.1:{port}/page.html'); {pause} }}
export function handleSummary(data) {{
  return {{ stdout: String(data.metrics.http_reqs.values.count) }};
}}
"""

    def __init__(self) -> None:
        self.program = CACHE / "bin" / "k6"
        if not self.program.exists():
            if shutil.which("go") is None:
                raise SystemExit("bench/drive builds k6, and needs go for it: install Go 1.22+")
            CACHE.mkdir(parents=True, exist_ok=True)
            build = ["env", f"GOBIN={self.program.parent}", "go", "install", K6_MODULE]
            subprocess.run(build, check=True)

    def drive(self, port: int, load: Load, cores: list[int], folder: Path) -> Result:
        pause = f"sleep({load.think_s});" if load.think_s else ""
        seconds = load.seconds + load.ramp_s
        script = self._script.format(users=load.users, seconds=seconds, port=port, pause=pause)
        (folder / "script.js").write_text(script)
        quiet = ["--quiet", "--no-usage-report", "--address", "127.0.0.1:0"]
        cost = run([str(self.program), "run", *quiet, "script.js"], cores, folder, {})
        return Result(int(cost.output.strip().splitlines()[-1]), cost)


class Locust:
    """Locust with its fast client, in a virtual environment of its own."""

    name = "locust"
    _script = """
from locust import FastHttpUser, constant, task

class Reader(FastHttpUser):
    wait_time = constant({think})

    @task
    def page(self):
        self.client.get("/page.html", headers={{"Connection": "close"}})
"""

    def __init__(self) -> None:
        self.program = CACHE / "locust" / "bin" / "locust"
        if not self.program.exists():
            folder = self.program.parent.parent
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            pip = folder / "bin" / "pip"
            subprocess.run([pip, "install", "--quiet", LOCUST], check=True)

    def drive(self, port: int, load: Load, cores: list[int], folder: Path) -> Result:
        (folder / "locustfile.py").write_text(self._script.format(think=load.think_s))
        seconds = max(1, round(load.seconds + load.ramp_s))
        command = [str(self.program), "--headless", "--json", "--loglevel", "ERROR"]
        command += ["-u", str(load.users), "-r", str(load.users), "-t", f"{seconds}s"]
        command += ["--host", f"http://127.0.0.1:{port}", "-f", "locustfile.py", "--only-summary"]
        cost = run(command, cores, folder, {})
        # The figures stand behind whatever the program says at its start.
        figures = json.loads(cost.output[cost.output.index("[") :])
        return Result(sum(entry["num_requests"] for entry in figures), cost)
