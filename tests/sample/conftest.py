"""What the samplers' tests share: one run of `sample`, and control groups of the test's own."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from tests.pace import wait_until
from tierlab.observe.agent import binary

MILLISECOND = 1_000_000
INTERVAL = 50 * MILLISECOND
_NUMBERS = itertools.count(1)


def table(folder: Path, name: str) -> pd.DataFrame:
    """A finished table, or what can be read of one that was broken off."""
    with pa.OSFile(str(folder / f"{name}.arrows"), "rb") as file:
        stream = pa.ipc.open_stream(file)
        batches: list[pa.RecordBatch] = []
        with contextlib.suppress(pa.ArrowInvalid, OSError):
            batches.extend(stream)
        return pa.Table.from_batches(batches, stream.schema).to_pandas()


@dataclass
class Sampling:
    """A running sampler."""

    folder: Path
    process: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)

    def ticks(self, count: int = 4) -> None:
        """Wait until it has ticked so often more, however long it has to wait for its CPU."""
        sleeps = self._sleeps()
        wait_until(lambda: self._sleeps() >= sleeps + count, f"{count} ticks", nap=0.005)

    def _sleeps(self) -> int:
        """How often it has gone to sleep: once a tick."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    def stop(self) -> dict[str, Any]:
        """Ask it to end; returns its summary."""
        self.process.send_signal(signal.SIGTERM)
        said, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, errors
        self.lines += [json.loads(line) for line in said.splitlines()]
        summary: dict[str, Any] = self.lines[-1]["summary"]
        return summary

    def table(self, name: str) -> pd.DataFrame:
        return table(self.folder, name)

    @property
    def events(self) -> pd.DataFrame:
        return table(self.folder, "sample.events")

    @property
    def happened(self) -> pd.DataFrame:
        """What came and went: the events without the late ticks of a busy machine."""
        return self.events[self.events.kind != "late_tick"]


Start = Callable[..., Sampling]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with samplers(tmp_path) as sampling:
        yield sampling


@contextlib.contextmanager
def samplers(parent: Path) -> Iterator[Start]:
    """Starts samplers that are ready; keys given replace those of a plan for 50 ms."""
    started: list[subprocess.Popen[str]] = []

    def sampling(prefix: tuple[str, ...] = (), **plan: Any) -> Sampling:
        folder = parent / f"out{next(_NUMBERS)}"
        folder.mkdir()
        plan_file = folder / "plan.json"
        plan_file.write_text(json.dumps({"interval_ns": INTERVAL, **plan}))
        command = [*prefix, binary(), "sample", "--plan", str(plan_file), "--out", str(folder)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, process.communicate()[1]
        ready = json.loads(first)
        assert ready["ready"] is True
        return Sampling(folder, process, [ready])

    try:
        yield sampling
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
            process.communicate()


@dataclass(frozen=True)
class Group:
    """A control group, whichever version this machine has."""

    folders: Mapping[str, Path]

    def add(self, pid: int) -> None:
        for folder in self.folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def make(self) -> None:
        for folder in self.folders.values():
            folder.mkdir()

    def remove(self) -> None:
        for folder in self.folders.values():
            wait_until(partial(_removed, folder), f"the removal of {folder}")

    def cpu_ns(self) -> int:
        """CPU time of the group so far, as the kernel says."""
        if "unified" in self.folders:
            lines = (self.folders["unified"] / "cpu.stat").read_text().splitlines()
            return int(dict(line.split() for line in lines)["usage_usec"]) * 1000
        return int((self.folders["cpuacct"] / "cpuacct.usage").read_text())

    def subject(self, name: str) -> dict[str, Any]:
        return {"name": name, "cgroups": {kind: str(path) for kind, path in self.folders.items()}}


@pytest.fixture
def group() -> Iterator[Group]:
    """A control group of the test's own, not made yet."""
    mounts = Path("/sys/fs/cgroup")
    if not os.access(mounts, os.W_OK) or os.geteuid() != 0:
        pytest.skip("control groups can only be made by root")
    name = f"tierlab-test-{os.getpid()}-{next(_NUMBERS)}"
    version1 = [kind for kind in ("cpuacct", "cpu", "memory", "blkio") if (mounts / kind).is_dir()]
    folders = {kind: mounts / kind / name for kind in version1} or {"unified": mounts / name}
    made = Group(folders)
    yield made
    made.remove()


def _removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()
