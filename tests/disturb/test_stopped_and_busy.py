"""Freeze and cpu against the kernel's own states and accounts."""

from __future__ import annotations

import signal
import statistics
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.disturb.conftest import CALM, LEAD, MS, Disturb, Domain, at, entry, pids, wait_for

BUSY = ("sh", "-c", "while :; do :; done")


def states(domain: Domain) -> set[str]:
    stats = [Path(f"/proc/{pid}/stat").read_text() for pid in pids(domain.groups["cpu"])]
    return {stat.rsplit(")", 1)[1].split()[0] for stat in stats}


@pytest.mark.alone
def test_a_frozen_domain_stands_still_for_as_long_as_asked(
    domain: Domain, disturb: Disturb
) -> None:
    domain.start("sh", "-c", "(while :; do :; done) & while :; do :; done")
    wait_for(lambda: len(pids(domain.groups["cpu"])) == 2, "the child's start")
    run = disturb(entry(domain, 1, "freeze", LEAD, 400 * MS))
    at(run.start_ns() + 50 * MS)
    early = domain.number("cpuacct", "cpuacct.usage")
    at(run.start_ns() + 300 * MS)
    late = domain.number("cpuacct", "cpuacct.usage")
    # A process stops where it would have gone on: on a crowded machine that may be a little later.
    assert states(domain) == {"T"}
    assert late - early < MS
    truth = run.finish()
    wait_for(lambda: domain.number("cpuacct", "cpuacct.usage") > late + 10 * MS, "going on")
    assert truth[0]["effect"]["processes"] == 2


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
    domain.start(*BUSY)
    run = disturb(entry(domain, 1, "freeze", LEAD, 60_000 * MS))
    wait_for(lambda: states(domain) == {"T"}, "the freeze")
    run.process.send_signal(how)
    wait_for(lambda: "T" not in states(domain), "going on", 2)
    run.process.wait(timeout=10)
    if how is not signal.SIGKILL:
        (truth,) = run.truth()
        assert truth["done"] is False
        assert truth["end_ns"] - truth["start_ns"] < 60_000 * MS
        assert "stopped" in truth["error"]


def is_its_own(domain: Domain, server: subprocess.Popen[bytes]) -> None:
    """Nobody but the server uses CPU time in the domain; its own is counted in ticks of 10 ms."""
    wait_for(lambda: others_share(domain, server, 0.3) < 0.05, "the neighbour's end")


def others_share(domain: Domain, server: subprocess.Popen[bytes], seconds: float) -> float:
    """CPU time in the domain that is not the server's, in PUs."""
    process = psutil.Process(server.pid)

    def both() -> tuple[int, float]:
        used = process.cpu_times()
        return domain.number("cpuacct", "cpuacct.usage"), used.user + used.system

    (group, own), began = both(), time.monotonic()
    time.sleep(seconds)
    (group_later, own_later), elapsed = both(), time.monotonic() - began
    return ((group_later - group) / 1e9 - (own_later - own)) / elapsed


def test_a_neighbour_in_the_domain_takes_its_cpu_time(domain: Domain, disturb: Disturb) -> None:
    server = domain.start(*BUSY)
    run = disturb(entry(domain, 1, "cpu", LEAD + 2 * CALM, 1_000 * MS, pus=[0], threads=2))
    is_its_own(domain, server)
    at(run.start_ns() + 50 * MS)
    during = others_share(domain, server, 0.7)
    (truth,) = run.finish()
    # Twice what is noise otherwise: on a crowded machine the whole domain gets little.
    assert during > 0.1
    assert truth["effect"]["cpu_ns"] > 0.1 * 1_000 * MS
    is_its_own(domain, server)


def test_a_neighbour_beside_the_domain_has_a_group_of_its_own(
    domain: Domain, disturb: Disturb
) -> None:
    domain.start(*BUSY)
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
    assert truth["effect"]["cpu_ns"] > 0.1 * 600 * MS
    assert not any(group.exists() for group in groups)


def test_a_killed_agent_leaves_no_neighbour_and_no_group(domain: Domain, disturb: Disturb) -> None:
    domain.start(*BUSY)
    run = disturb(entry(domain, 8, "cpu", LEAD, 60_000 * MS, pus=[0], where="cores"))
    group = domain.groups["cpu"].with_name("neighbour-8")
    pid = int((group / "cgroup.procs").read_text())
    at(run.start_ns() + 100 * MS)
    run.process.kill()
    wait_for(lambda: not psutil.pid_exists(pid), "the neighbour's end", 5)
    wait_for(lambda: not group.exists(), "the group's removal", 5)
