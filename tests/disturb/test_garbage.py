"""Garbage collections, by the JVM's own log."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import pytest

from tests.disturb.conftest import LEAD, MS, Disturb, Domain, entry
from tests.pace import wait_until

PROGRAM = """
public class Idle {
    static Object[] kept = new Object[4096];
    public static void main(String[] arguments) throws Exception {
        for (int k = 0; k < kept.length; k++) kept[k] = new byte[4096];
        System.out.println("up");
        Thread.sleep(60_000);
    }
}
"""


@pytest.fixture
def jvm(domain: Domain) -> subprocess.Popen[bytes]:
    """A JVM that does nothing, and logs when it collects."""
    (domain.folder / "Idle.java").write_text(PROGRAM)
    log = "-Xlog:gc,safepoint:file=gc.log:timemillis"
    process = domain.start(
        *("java", "-XX:TieredStopAtLevel=1", "-Xmx64m", "-XX:-UsePerfData", log, "Idle.java"),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def full_collections(log: Path) -> list[int]:
    """When each ended (ns of the epoch, to the millisecond)."""
    found = re.findall(r"\[(\d+)ms\].*Pause Full \((?:System\.gc|Diagnostic)", log.read_text())
    return [int(moment) * MS for moment in found]


def left_by_attaching(pid: int) -> list[Path]:
    return [*Path("/tmp").glob(f".*_pid{pid}"), *Path(f"/proc/{pid}/cwd").glob(".*_pid*")]


@pytest.mark.alone
def test_collections_fill_the_time_and_nothing_is_left_in_tmp(
    domain: Domain, disturb: Disturb, jvm: subprocess.Popen[bytes]
) -> None:
    run = disturb(entry(domain, 1, "gc", LEAD, 1_000 * MS))
    (truth,) = run.finish()
    moments = full_collections(domain.folder / "gc.log")
    assert len(moments) == truth["effect"]["collections"] >= 3
    assert all(run.start_ns() - MS < moment <= truth["end_ns"] for moment in moments)
    # Back to back: no gap as long as half of the whole.
    gaps = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert max(gaps) < 1_000 * MS / 2
    assert not left_by_attaching(jvm.pid)


def test_the_second_of_two_finds_the_door_that_the_first_opened(
    domain: Domain, disturb: Disturb, jvm: subprocess.Popen[bytes]
) -> None:
    """The first one's end had taken the socket away that both had attached by."""
    first = entry(domain, 1, "gc", LEAD, 100 * MS)
    second = entry(domain, 2, "gc", LEAD + 600 * MS, 100 * MS)
    truths = disturb(first, second).finish()
    assert [truth["done"] for truth in truths] == [True, True]
    assert not left_by_attaching(jvm.pid)


def test_a_killed_agent_leaves_nothing_in_tmp(
    domain: Domain, disturb: Disturb, jvm: subprocess.Popen[bytes]
) -> None:
    run = disturb(entry(domain, 1, "gc", LEAD, 60_000 * MS))
    wait_until(lambda: bool(full_collections(domain.folder / "gc.log")), "a collection")
    assert left_by_attaching(jvm.pid)
    run.process.kill()
    wait_until(lambda: not left_by_attaching(jvm.pid), "the cleaning", 5)


def test_a_domain_without_a_jvm_is_one_sentence(domain: Domain, disturb: Disturb) -> None:
    domain.start("sleep", "60")
    with pytest.raises(AssertionError, match=r"disturbance 1 \(gc on s\.1\).*no JVM"):
        disturb(entry(domain, 1, "gc", LEAD, MS))
