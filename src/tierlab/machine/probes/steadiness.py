"""Will this machine's own clock and neighbours blur what is measured?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from tierlab.machine.check import Check, Verdict
from tierlab.machine.kernel_files import read_text

GROUP = "steadiness"
CLOCK = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
FAST_CLOCKS = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter")
"""Read without a system call or a device."""
STEP_NS = 100_000
LATE_NS = 5_000_000
BUSY = 0.2
STOLEN = 0.02


def checks() -> Iterator[Check]:
    """Clock, timers, neighbours, frequency."""
    yield clock_source()
    yield clock_steps()
    yield timers()
    yield from other_load()
    yield governor()


def clock_source() -> Check:
    """What the kernel reads time from."""
    source = read_text(CLOCK)
    if source in FAST_CLOCKS:
        return Check(GROUP, "clock source", Verdict.WORKS, source)
    return Check(
        GROUP,
        "clock source",
        Verdict.PARTLY,
        source or "not told",
        "some CPU time: every reading of the clock costs a microsecond or more",
        "boot with clocksource=tsc, if the processor's is stable",
    )


def clock_steps(seconds: float = 0.3) -> Check:
    """Watch the wall clock against the monotonic one."""
    first = time.time_ns() - time.monotonic_ns()
    worst, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        before = time.monotonic_ns()
        wall = time.time_ns()
        after = time.monotonic_ns()
        if after - before < STEP_NS // 2:
            worst = max(worst, abs(wall - after - first))
        time.sleep(0.001)
    seen = f"wall clock within {worst / 1000:,.0f} us of the monotonic one for {seconds} s"
    if worst < STEP_NS:
        return Check(GROUP, "clock steps", Verdict.WORKS, seen)
    return Check(
        GROUP,
        "clock steps",
        Verdict.PARTLY,
        seen,
        "trust in single durations while the clock is being set",
        "wait until time synchronisation has settled",
    )


def timers(ticks: int = 60) -> Check:
    """How late a sleep of 5 ms ends: a sampler's and a driver's ticks are as late as this."""
    late = []
    for _ in range(ticks):
        due = time.monotonic_ns() + 5_000_000
        time.sleep(0.005)
        late.append(time.monotonic_ns() - due)
    late.sort()
    median, worst = late[ticks // 2], late[-1]
    seen = f"late by {median / 1e6:.2f} ms at the median, {worst / 1e6:.1f} ms at worst of {ticks}"
    if worst < LATE_NS:
        return Check(GROUP, "timers", Verdict.WORKS, seen)
    return Check(
        GROUP,
        "timers",
        Verdict.PARTLY,
        seen,
        "evenness of samples and of the load; every late tick is recorded",
        "end other programs",
    )


def other_load(seconds: float = 0.5) -> Iterator[Check]:
    """CPU time that others use now, and that the hypervisor gives to others."""
    before, own = psutil.cpu_times(), time.process_time()
    begin = time.monotonic()
    time.sleep(seconds)
    wall = (time.monotonic() - begin) * (psutil.cpu_count() or 1)
    after = psutil.cpu_times()
    mine = time.process_time() - own
    idle = after.idle + after.iowait - before.idle - before.iowait
    stolen = after.steal - before.steal
    busy = max(0.0, 1 - (idle + stolen + mine) / wall)
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    yield Check(
        GROUP,
        "other programs",
        Verdict.WORKS if busy < BUSY else Verdict.PARTLY,
        f"{busy:.0%} of the CPU time now; load averages {load}",
        None if busy < BUSY else "comparability: they compete with the servers",
        None if busy < BUSY else "end them, or place the servers on other PUs",
    )
    share = stolen / wall
    yield Check(
        GROUP,
        "stolen time",
        Verdict.WORKS if share < STOLEN else Verdict.PARTLY,
        f"{share:.1%} of the CPU time now",
        None if share < STOLEN else "comparability: other virtual machines take the host's PUs",
        None if share < STOLEN else "a less busy host, or vCPUs of its own",
    )


def governor() -> Check:
    """The frequency policy, where the machine shows one."""
    policies = {
        text
        for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
        if (text := read_text(path))
    }
    if policies <= {"performance"}:
        seen = "performance" if policies else "none shown: the host decides, or it is fixed"
        return Check(GROUP, "frequency governor", Verdict.WORKS, seen)
    return Check(
        GROUP,
        "frequency governor",
        Verdict.PARTLY,
        ", ".join(sorted(policies)),
        "comparability: the clock rate follows the load",
        "cpupower frequency-set --governor performance",
    )
