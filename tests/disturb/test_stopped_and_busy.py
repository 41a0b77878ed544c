"""Freeze and cpu against the kernel's own states and accounts."""

from __future__ import annotations

import signal
import statistics
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.disturb.conftest import (
    CALM,
    LEAD,
    MS,
    Disturb,
    Domain,
    at,
    entry,
    pids,
    readings,
)
from tests.pace import wait_until

BUSY = ("sh", "-c", "while :; do :; done")


def states(domain: Domain) -> set[str]:
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in pids(domain.groups["cpu"])]
    return {stat.rsplit(")", 1)[1].split()[0] for stat in stats}


def test_a_frozen_domain_stands_still_for_as_long_as_asked(
    domain: Domain, disturb: Disturb
) -> None:
    def used() -> int:
        return domain.number("cpuacct", "cpuacct.usage")

    domain.start("sh", "-c", "(while :; do :; done) & while :; do :; done")
    wait_until(lambda: len(pids(domain.groups["cpu"])) == 2, "the child's start")
    run = disturb(entry(domain, 1, "freeze", LEAD, 600 * MS))
    at(run.start_ns())
    # A process stops where it would have gone on: on a crowded machine that may be a little later.
    wait_until(lambda: states(domain) == {"T"}, "the freeze")
    frozen = readings(used, time.time_ns(), run.end_ns())
    assert frozen[-1].value - frozen[0].value < MS
    (truth,) = run.finish()
    wait_until(lambda: used() > frozen[-1].value + 10 * MS, "going on")
    assert truth["effect"]["processes"] == 2


def lateness(domain: Domain, disturb: Disturb) -> tuple[float, float]:
    """Of eleven short freezes: how late they began and ended (ns, medians); none came early."""
    plans = [entry(domain, k, "freeze", LEAD + k * 100 * MS, (20 + k) * MS) for k in range(11)]
    run = disturb(*plans)
    truth = run.finish()
    starts = [true["start_ns"] - plan["start_ns"] for true, plan in zip(truth, plans, strict=True)]
    ends = [true["end_ns"] - run.end_ns(k) for k, true in enumerate(truth)]
    assert min(starts) >= 0
    assert min(ends) >= 0
    return statistics.median(starts), statistics.median(ends)


@pytest.mark.alone
def test_true_times_are_those_asked_for(domain: Domain, disturb: Disturb) -> None:
    domain.start("sleep", "60")
    assert max(lateness(domain, disturb)) < 10 * MS


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whatever_ends_the_agent_the_domain_goes_on(
    domain: Domain, disturb: Disturb, how: signal.Signals
) -> None:
    domain.start("sleep", "60")
    run = disturb(entry(domain, 1, "freeze", LEAD, 60_000 * MS))
    wait_until(lambda: states(domain) == {"T"}, "the freeze")
    run.process.send_signal(how)
    wait_until(lambda: "T" not in states(domain), "going on", 2)
    run.process.wait(timeout=10)
    if how is not signal.SIGKILL:
        (truth,) = run.truth()
        assert truth["done"] is False
        assert truth["end_ns"] - truth["start_ns"] < 60_000 * MS
        assert "stopped" in truth["error"]


def is_its_own(domain: Domain, server: subprocess.Popen[bytes]) -> None:
    """Nobody but the server uses CPU time in the domain."""
    wait_until(lambda: others_share(domain, server, 0.3) < 0.05, "the neighbour's end")


def others_share(domain: Domain, server: subprocess.Popen[bytes], seconds: float) -> float:
    """Of the CPU time that the domain gets: on a crowded machine that is little."""
    before = used(domain, server)
    time.sleep(seconds)
    whole, own = (now - then for now, then in zip(used(domain, server), before, strict=True))
    return (whole - own) / max(whole, 1)


def used(domain: Domain, server: subprocess.Popen[bytes]) -> tuple[int, int]:
    """CPU time (ns) of the domain and of its server, both by the scheduler's own account."""
    own = Path(f"/proc/{server.pid}/schedstat").read_text().split()[0]
    return domain.number("cpuacct", "cpuacct.usage"), int(own)


def test_a_neighbour_in_the_domain_takes_its_cpu_time(domain: Domain, disturb: Disturb) -> None:
    server = domain.start(*BUSY)
    run = disturb(entry(domain, 1, "cpu", LEAD + 2 * CALM, 1_000 * MS, pus=[0], threads=2))
    is_its_own(domain, server)
    ready, (whole, own) = time.time_ns(), used(domain, server)
    (truth,) = run.finish()
    whole_later, own_later = used(domain, server)
    others = (whole_later - whole) - (own_later - own)
    # Two threads of three, as long as it lasts; how much that is depends on who else computes.
    during = (truth["end_ns"] - truth["start_ns"]) / (time.time_ns() - ready)
    assert others > 0.2 * during * (whole_later - whole)
    assert truth["effect"]["cpu_ns"] == pytest.approx(others, rel=0.2, abs=20 * MS)
    is_its_own(domain, server)


def test_a_neighbour_beside_the_domain_has_a_group_of_its_own(
    domain: Domain, disturb: Disturb
) -> None:
    domain.start("sleep", "60")
    run = disturb(
        entry(
            domain,
            7,
            "cpu",
            LEAD,
            600 * MS,
            pus=[0],
            threads=4,
            where="cores",
            pattern="alternating",
            period_ns=50 * MS,
        )
    )
    groups = [domain.groups[name].with_name("neighbour-7") for name in ("cpu", "cpuset")]
    assert (groups[1] / "cpuset.cpus").read_text().strip() == "0"
    pid = int((groups[0] / "cgroup.procs").read_text())
    assert psutil.Process(pid).name() == "neighbour"
    (truth,) = run.finish()
    # On a crowded machine four threads may get little, but not nothing.
    assert truth["effect"]["cpu_ns"] > 10 * MS
    assert not any(group.exists() for group in groups)


def test_a_killed_agent_leaves_no_neighbour_and_no_group(domain: Domain, disturb: Disturb) -> None:
    domain.start("sleep", "60")
    run = disturb(entry(domain, 8, "cpu", LEAD, 60_000 * MS, pus=[0], where="cores"))
    group = domain.groups["cpu"].with_name("neighbour-8")
    pid = int((group / "cgroup.procs").read_text())
    at(run.start_ns() + 100 * MS)
    run.process.kill()
    wait_until(lambda: not psutil.pid_exists(pid), "the neighbour's end", 5)
    wait_until(lambda: not group.exists(), "the group's removal", 5)
