"""Can hardware events be counted and the kernel be traced? Nothing in the demo needs it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from tierlab.machine.attempt import attempt
from tierlab.machine.check import Check, Verdict
from tierlab.machine.kernel_calls import (
    BPF_RETURN_ZERO,
    BPF_SOCKET_FILTER,
    CLONE_NEWNS,
    MS_REC_PRIVATE,
    PERF_COUNT_HW_INSTRUCTIONS,
    PERF_COUNT_SW_CPU_CLOCK,
    PERF_TYPE_HARDWARE,
    PERF_TYPE_SOFTWARE,
    bpf_load,
    mount,
    perf_event_open,
    unshare,
)
from tierlab.machine.programs import locate

GROUP = "profiles"
PARANOID = "sysctl kernel.perf_event_paranoid=-1, or run as root"
TRACING = Path("/sys/kernel/tracing")


def checks() -> Iterator[Check]:
    """Hardware counters, software events, who records them, tracepoints, eBPF."""
    yield _counter(
        "hardware counters",
        PERF_TYPE_HARDWARE,
        PERF_COUNT_HW_INSTRUCTIONS,
        "instructions and cache misses by core and symbol, other than simulated",
        "a machine or a virtual machine type that has a PMU",
    )
    yield _counter(
        "software events",
        PERF_TYPE_SOFTWARE,
        PERF_COUNT_SW_CPU_CLOCK,
        "samples of where CPU time goes, by symbol",
        PARANOID,
    )
    yield recorder()
    yield tracepoints()
    yield ebpf()


def _counter(name: str, kind: int, config: int, lost: str, remedy: str) -> Check:
    """Open a counter of everybody's on one PU, as profiles do, work a little, and see it count."""
    try:
        descriptor = perf_event_open(kind, config)
    except OSError as error:
        denied = isinstance(error, PermissionError)
        seen = f"perf_event_open: {error.strerror}"
        return Check(GROUP, name, Verdict.MISSING, seen, lost, PARANOID if denied else remedy)
    try:
        begin = time.thread_time_ns()
        while time.thread_time_ns() - begin < 5_000_000:
            pass
        count = int.from_bytes(os.read(descriptor, 8), "little")
    finally:
        os.close(descriptor)
    if count == 0:
        return Check(GROUP, name, Verdict.MISSING, "opened, but it stays at 0", lost, remedy)
    return Check(GROUP, name, Verdict.WORKS, "perf_event_open counts")


def recorder() -> Check:
    """The program that records profiles."""
    path = locate("perf")
    if path is not None:
        return Check(GROUP, "perf", Verdict.WORKS, path)
    lost = "profiles by function, recorded or imported"
    return Check(
        GROUP, "perf", Verdict.MISSING, "not installed", lost, "apt-get install linux-perf"
    )


def tracepoints() -> Check:
    """The tracing filesystem, mounted already or, in a child's own mount namespace, by us."""
    lost = "exact CPU accounting and retransmissions from the kernel's tracepoints"
    if os.access(TRACING / "events/sched/enable", os.R_OK):
        return Check(GROUP, "tracepoints", Verdict.WORKS, f"{TRACING} is mounted")
    failure = attempt(_mount_tracing)
    if failure is None:
        seen = f"{TRACING} can be mounted"
        return Check(GROUP, "tracepoints", Verdict.WORKS, seen)
    remedy = "run as root" if os.geteuid() else "a kernel with CONFIG_TRACEPOINTS"
    return Check(GROUP, "tracepoints", Verdict.MISSING, failure, lost, remedy)


def _mount_tracing() -> None:
    unshare(CLONE_NEWNS)
    mount("none", Path("/"), "", MS_REC_PRIVATE)
    mount("tracefs", TRACING, "tracefs")
    (TRACING / "events/sched/enable").read_text(encoding="ascii")


def ebpf() -> Check:
    """Load a program of two instructions."""
    try:
        os.close(bpf_load(BPF_RETURN_ZERO, BPF_SOCKET_FILTER))
    except OSError as error:
        return Check(
            GROUP,
            "eBPF",
            Verdict.MISSING,
            f"bpf: {error.strerror}",
            "exact CPU accounting at 10 ms",
            "run as root",
        )
    return Check(GROUP, "eBPF", Verdict.WORKS, "a program was loaded")
