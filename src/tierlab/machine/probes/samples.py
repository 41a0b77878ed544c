"""Can resources be sampled at 50 ms, from sources that tell the truth at that pace?"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

from tierlab.machine.attempt import attempt
from tierlab.machine.check import Check, Verdict
from tierlab.machine.control_groups import with_controller
from tierlab.machine.kernel_calls import (
    BPF_RAW_TRACEPOINT,
    BPF_RETURN_ZERO,
    bpf_attach_raw_tracepoint,
    bpf_load,
)
from tierlab.machine.kernel_files import read_text

GROUP = "samples"
SPIN_NS = 60_000_000
"""CPU time that a check uses up, to see whether a counter moves with it."""


def checks() -> Iterator[Check]:
    """Every source of a sampler that is not on every machine."""
    yield cpu_time()
    yield thread_times()
    yield pressure()
    yield accept_queues()
    yield disks()


def _spin() -> int:
    """Use up some CPU time; how much it was, in ns."""
    begin = time.thread_time_ns()
    while time.thread_time_ns() - begin < SPIN_NS:
        pass
    return time.thread_time_ns() - begin


def _machine_cpu_ns() -> int | None:
    """CPU time of the whole machine in cgroup v1's root (only a true root has release_agent)."""
    hierarchy = with_controller("cpuacct")
    if hierarchy is None or not (hierarchy.root / "release_agent").exists():
        return None
    text = read_text(hierarchy.root / "cpuacct.usage_percpu")
    return None if text is None else sum(map(int, text.split()))


def _attach_to_sched_switch() -> None:
    bpf_attach_raw_tracepoint(bpf_load(BPF_RETURN_ZERO, BPF_RAW_TRACEPOINT), "sched_switch")


def cpu_time() -> Check:
    """cpuacct, if it counts the CPU time that we use up; else sched_switch; else ticks."""
    before = _machine_cpu_ns()
    used = _spin()
    after = _machine_cpu_ns()
    if before is not None and after is not None and after - before >= 0.9 * used:
        return Check(GROUP, "CPU time", Verdict.WORKS, "cgroup v1 cpuacct.usage_percpu, in ns")
    failure = attempt(_attach_to_sched_switch)
    if failure is None:
        return Check(GROUP, "CPU time", Verdict.WORKS, "sched_switch by eBPF, in ns")
    return Check(
        GROUP,
        "CPU time",
        Verdict.PARTLY,
        f"/proc/stat only, in ticks of 10 ms (sched_switch: {failure})",
        "CPU shares at 50 ms: they are off by 6 to 14 points (root mean square)",
        "run as root, or mount the cpuacct controller",
    )


def thread_times() -> Check:
    """/proc/<pid>/task/<tid>/schedstat: run and wait in ns."""
    before = _run_ns()
    used = _spin()
    after = _run_ns()
    if before is not None and after is not None and after - before >= 0.9 * used:
        return Check(GROUP, "thread times", Verdict.WORKS, "schedstat counts run and wait in ns")
    return Check(
        GROUP,
        "thread times",
        Verdict.MISSING,
        "schedstat does not count",
        "run and wait times of the servers' threads",
        "a kernel with CONFIG_SCHED_INFO",
    )


def _run_ns() -> int | None:
    words = (read_text(Path("/proc/thread-self/schedstat")) or "").split()
    return int(words[0]) if words else None


def pressure() -> Check:
    """/proc/pressure (kernel document accounting/psi)."""
    text = read_text(Path("/proc/pressure/cpu"))
    if text and "total=" in text:
        return Check(GROUP, "pressure", Verdict.WORKS, "/proc/pressure counts stalls in us")
    return Check(
        GROUP,
        "pressure",
        Verdict.MISSING,
        "no /proc/pressure/cpu",
        "the share of time in which tasks waited for cpu, memory or io",
        "boot with psi=1",
    )


def accept_queues() -> Check:
    """Listen, leave a connection unaccepted, and find it by inet_diag."""
    try:
        waiting = _waiting_connections()
    except OSError as error:
        seen = f"inet_diag: {error.strerror or error}"
    else:
        if waiting == 1:
            return Check(
                GROUP, "accept queues", Verdict.WORKS, "inet_diag shows a waiting connection"
            )
        seen = "inet_diag does not show a listening socket's queue"
    return Check(
        GROUP,
        "accept queues",
        Verdict.MISSING,
        seen,
        "the lengths of the servers' accept queues",
        "modprobe tcp_diag",
    )


def _waiting_connections() -> int | None:
    from pyroute2 import DiagSocket  # takes as long to load as the other checks together

    tcp_listen = 1 << 10
    with socket.create_server(("127.0.0.1", 0), backlog=8) as server:
        port = server.getsockname()[1]
        with socket.create_connection(server.getsockname(), timeout=2), DiagSocket() as diag:
            diag.bind()
            for entry in diag.get_sock_stats(family=socket.AF_INET, states=tcp_listen):
                if entry["idiag_sport"] == port:
                    return int(entry["idiag_rqueue"])
    return None


def disks() -> Check:
    """/proc/diskstats with at least one block device that is neither memory nor a loop."""
    lines = (read_text(Path("/proc/diskstats")) or "").splitlines()
    names = [line.split()[2] for line in lines]
    real = [
        n for n in names if not n.startswith(("ram", "loop")) and Path("/sys/block", n).exists()
    ]
    if real:
        return Check(GROUP, "disks", Verdict.WORKS, ", ".join(real))
    return Check(
        GROUP,
        "disks",
        Verdict.MISSING,
        "/proc/diskstats shows no device",
        "disk samples; the servers' own reads and writes are still counted",
    )
