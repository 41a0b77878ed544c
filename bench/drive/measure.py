"""What a process cost: CPU time and peak memory, from the kernel when it ends."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """Of a process and the children that it waited for: seconds of CPU, bytes resident at most.

    ``user_s`` is the part of ``cpu_s`` outside the kernel; ``waited_s`` is how long its main thread
    was ready to run while others had the core; ``started_ns`` is when it was started, since the
    epoch.
    """

    cpu_s: float
    user_s: float
    memory: int
    waited_s: float
    started_ns: int
    output: str


def run(command: list[str], cores: list[int], folder: Path, environment: dict[str, str]) -> Cost:
    """Run `command` on `cores` to its end.

    CPU time is that of wait4(2). Memory is VmHWM of /proc/<pid>/status and waiting that of
    /proc/<pid>/schedstat, looked at every 20 ms: the maximum that wait4 gives counts the parent's
    pages from before exec(2) too.
    """
    with (folder / "output").open("w+") as output, (folder / "errors").open("w+") as errors:
        started_ns = time.time_ns()
        process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, cores)), *command],
            cwd=folder,
            stdout=output,
            stderr=errors,
            env=os.environ | environment,
        )
        memory, waited_ns = 0, 0
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            memory = max(memory, _peak(process.pid))
            waited_ns = max(waited_ns, _waited_ns(process.pid))
            time.sleep(0.02)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            raise SystemExit(f"{command[0]} failed ({process.returncode}): {errors.read()[-500:]}")
        output.seek(0)
        cpu_s = usage.ru_utime + usage.ru_stime
        said = output.read()
        return Cost(cpu_s, usage.ru_utime, memory, waited_ns / 1e9, started_ns, said)


def _peak(process: int) -> int:
    """Bytes resident at most since exec; 0 when it has ended or taskset has not handed over."""
    try:
        if Path(f"/proc/{process}/comm").read_text().strip() == "taskset":
            return 0
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0


def _waited_ns(process: int) -> int:
    """Nanoseconds spent runnable without running; 0 where the kernel does not count them."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1])
    except (OSError, IndexError):
        return 0
