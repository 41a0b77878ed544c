"""What the disturbances' tests share: a domain to disturb, the agent's verb, and its truth."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pace import pace, wait_until
from tierlab.environments.network import netns
from tierlab.observe.agent import binary

MS = 1_000_000
SLOWER = pace()
"""What takes others' CPUs takes a while of these tests', too."""
LEAD = round(600 * MS * SLOWER)
"""From the writing of a plan to the first disturbance: the agent prepares meanwhile, which takes it
less than 200 ms on two busy cores. Where it takes longer it is started again, with more time."""
ROOM = LEAD // 3
"""What a test has to do once the agent is ready it does in so much time before the first one."""
ATTEMPTS = 3
CALM = 500 * MS
"""How much later a disturbance begins that is held against the time before it."""
MOUNTS = Path("/sys/fs/cgroup")
_NUMBERS = itertools.count(1)


def at(moment_ns: int) -> None:
    """Wait for a time."""
    while (left := moment_ns - time.time_ns()) > 0:
        time.sleep(left / 1e9)


@dataclass(frozen=True)
class Reading:
    """What was read, and between which times (UTC, ns)."""

    from_ns: int
    until_ns: int
    value: int


def readings(read: Callable[[], int], from_ns: int, until_ns: int) -> list[Reading]:
    """Read over and over between two times.

    What was read when the second had passed, because a busy machine let this process wait, is not
    among it.
    """
    at(from_ns)
    found: list[Reading] = []
    while True:
        began, value = time.time_ns(), read()
        if (now := time.time_ns()) >= until_ns:
            assert len(found) > 1, "this process had to wait for the whole of the time"
            return found
        found.append(Reading(began, now, value))
        time.sleep(0.01)


def pids(group: Path) -> list[int]:
    return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]


@dataclass
class Domain:
    """A control group, a folder and a network namespace, as a trial's server has them."""

    groups: Mapping[str, Path]
    folder: Path
    namespace: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def inside(self) -> list[str]:
        return ["nsenter", f"--net={self.namespace}"]

    def start(self, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program in the domain, its first instruction included; returns once it is in."""
        joins = "".join(f"echo $$ > {path}/cgroup.procs; " for path in self.groups.values())
        shell = ["sh", "-c", f'{joins} exec "$@"', "sh", *self.inside, *argv]
        process = subprocess.Popen(shell, cwd=self.folder, **options)
        self.processes.append(process)
        wait_until(
            lambda: all(process.pid in pids(path) for path in self.groups.values()), "joining"
        )
        return process

    def stop(self) -> None:
        for pid in pids(self.groups["cpu"]):
            os.kill(pid, signal.SIGKILL)
        for process in self.processes:
            process.wait()

    def number(self, controller: str, name: str) -> int:
        return int((self.groups[controller] / name).read_text())

    def keyed(self, controller: str, name: str) -> dict[str, int]:
        lines = (self.groups[controller] / name).read_text().splitlines()
        return {key: int(value) for key, value in (line.split()[:2] for line in lines)}

    def target(self) -> dict[str, Any]:
        """The plan's keys for it."""
        return {
            "subject": "s.1",
            "cgroups": {name: str(path) for name, path in self.groups.items()},
            "folder": str(self.folder),
        }


@pytest.fixture
def domain(tmp_path: Path) -> Iterator[Domain]:
    with new_domain(tmp_path) as made:
        yield made


@contextmanager
def new_domain(folder: Path) -> Iterator[Domain]:
    """A domain with nothing in it."""
    controllers = ("cpu", "cpuacct", "cpuset", "memory", "blkio")
    if os.geteuid() != 0 or not all((MOUNTS / name).is_dir() for name in controllers):
        pytest.skip("needs root and version 1 control groups")
    name = f"tierlab-disturb-{os.getpid()}-{next(_NUMBERS)}"
    groups = {controller: MOUNTS / controller / name for controller in controllers}
    for path in groups.values():
        path.mkdir()
    for key in ("cpuset.cpus", "cpuset.mems"):
        (groups["cpuset"] / key).write_text((MOUNTS / "cpuset" / key).read_text())
    namespace = netns.create({})
    made = Domain(groups, folder, namespace.path)
    try:
        yield made
    finally:
        made.stop()
        namespace.close()
        for path in groups.values():
            wait_until(partial(_removed, path), f"the removal of {path}")


def _removed(path: Path) -> bool:
    try:
        path.rmdir()
    except OSError:
        return False
    return True


@dataclass
class Run:
    """A running agent and what it writes."""

    process: subprocess.Popen[str]
    folder: Path
    plans: list[dict[str, Any]]

    def start_ns(self, which: int = 0) -> int:
        return int(self.plans[which]["start_ns"])

    def end_ns(self, which: int = 0) -> int:
        """When it is to end. It does not end before that; the agent tells of its end afterwards, on
        a busy machine some time afterwards."""
        return self.start_ns(which) + int(self.plans[which]["duration_ns"])

    def finish(self) -> list[dict[str, Any]]:
        """Wait for the end; returns the truth by id, everything done as planned."""
        said, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, errors
        truth = self.truth()
        assert all(line["done"] for line in truth), truth
        assert json.loads(said.splitlines()[-1])["summary"]["failed"] == 0
        return truth

    def truth(self) -> list[dict[str, Any]]:
        lines = (self.folder / "truth.jsonl").read_text().splitlines()
        return sorted(map(json.loads, lines), key=lambda line: int(line["id"]))


Disturb = Callable[..., Run]


def entry(
    domain: Domain, number: int, kind: str, after_ns: int, duration_ns: int, **keys: Any
) -> dict[str, Any]:
    """One disturbance of a plan."""
    return {
        "id": number,
        "class": kind,
        "start_ns": time.time_ns() + after_ns,
        "duration_ns": duration_ns,
        **domain.target(),
        **keys,
    }


@pytest.fixture
def disturb(domain: Domain, tmp_path: Path) -> Iterator[Disturb]:
    """Start the agent on some disturbances; returns once it is ready."""
    started: list[subprocess.Popen[str]] = []

    def start(*plans: dict[str, Any]) -> Run:
        folder = tmp_path / f"truth{next(_NUMBERS)}"
        folder.mkdir()
        plan = folder / "plan.json"
        plan.write_text(json.dumps({"disturbances": plans}))
        command = [*domain.inside, binary(), "disturb", "--plan", str(plan), "--out", str(folder)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, process.communicate()[1]
        assert json.loads(first)["ready"] is True
        return Run(process, folder, list(plans))

    def run(*plans: dict[str, Any]) -> Run:
        for _ in range(ATTEMPTS):
            made = start(*plans)
            begins = min(plan["start_ns"] for plan in plans)
            if time.time_ns() + ROOM < begins:
                return made
            end(made.process)
            later = time.time_ns() + 4 * LEAD - begins
            for plan in plans:
                plan["start_ns"] += later
        pytest.fail("the agent came too late")

    def end(process: subprocess.Popen[str]) -> None:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=20)

    yield run
    for process in started:
        end(process)
