"""Quota and weight against the kernel's own accounts."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.disturb.conftest import LEAD, MS, Disturb, Domain, entry, readings
from tests.pace import wait_until

BUSY = ("sh", "-c", "while :; do :; done")


def used_between(domain: Domain, start_ns: int, end_ns: int) -> float:
    """The cores that the domain used."""
    first, *_, last = readings(lambda: domain.number("cpuacct", "cpuacct.usage"), start_ns, end_ns)
    return (last.value - first.value) / (last.until_ns - first.from_ns)


def times_throttled(domain: Domain) -> int:
    return domain.keyed("cpu", "cpu.stat")["nr_throttled"]


def test_a_limited_domain_gets_the_cores_that_are_left_to_it(
    domain: Domain, disturb: Disturb
) -> None:
    domain.start(*BUSY)
    plans = [
        entry(domain, number, "quota", LEAD + number * 1000 * MS, 600 * MS, cores=0.1)
        for number in range(2)
    ]
    run = disturb(*plans)
    for number in range(2):
        start, end = run.start_ns(number), run.end_ns(number)
        before = times_throttled(domain)
        assert used_between(domain, start + 100 * MS, end) < 0.2
        assert times_throttled(domain) >= before + 2
        # Then it is as free as before, however little others leave to it.
        wait_until(lambda number=number: len(run.truth()) > number, "the end")  # type: ignore[misc]
        since = time.time_ns() + 50 * MS
        free = readings(lambda: times_throttled(domain), since, end + 400 * MS)
        assert free[-1].value == free[0].value
    run.finish()
    assert domain.number("cpu", "cpu.cfs_quota_us") == -1


def test_a_light_domain_gets_little_beside_another(domain: Domain, disturb: Disturb) -> None:
    for _ in range(os.cpu_count() or 1):
        domain.start(*BUSY)
    run = disturb(entry(domain, 1, "weight", LEAD, 800 * MS, weight=16, threads=8))
    used = used_between(domain, run.start_ns() + 100 * MS, run.end_ns())
    assert used < 0.1 * (os.cpu_count() or 1)
    run.finish()
    assert domain.number("cpu", "cpu.shares") == 1024
    assert not list(domain.groups["cpu"].parent.glob("neighbour-*"))


@pytest.mark.parametrize(
    ("kind", "file", "usual"), [("quota", "cpu.cfs_quota_us", -1), ("weight", "cpu.shares", 1024)]
)
def test_what_was_limited_is_free_again_when_the_agent_is_killed(
    domain: Domain, disturb: Disturb, kind: str, file: str, usual: int
) -> None:
    domain.start("sleep", "60")
    run = disturb(entry(domain, 1, kind, LEAD, 60_000 * MS))
    # A limit that nobody feels is there from the preparation on.
    wait_until(lambda: domain.number("cpu", file) in {10_000, 16}, "the limit")
    run.process.send_signal(signal.SIGKILL)
    wait_until(lambda: domain.number("cpu", file) == usual, "the way back", 5)
    run.process.wait(timeout=10)
