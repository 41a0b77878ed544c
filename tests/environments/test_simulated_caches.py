"""Caches that are simulated of guests: whose code missed, and who shares a package."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.environments.borrowed import lasting
from tests.environments.obstacle import needs
from tests.figures import figure
from tests.pace import wait_until
from tests.simulated_cache.cachegrind import misses
from tests.simulated_cache.emulated import by_symbol, compiled
from tierlab.environments.capability import Capability
from tierlab.environments.domain import DomainSpec
from tierlab.environments.placement import Placement
from tierlab.environments.qemu.domain import QemuDomain
from tierlab.environments.qemu.environment import Qemu
from tierlab.machine import caches

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    needs("qemu", Capability.SIMULATED_CACHES),
]

FIRST = "l1d:1(size=32KiB) l1i:1(size=32KiB) core:1 pu:1"
SMALL = f"pack:1 l3:1(size=512KiB) {FIRST}"
TWO_PACKAGES = f"pack:2 l3:1(size=1MiB) {FIRST}"
ONE_PACKAGE = TWO_PACKAGES.replace("pack:2", "pack:1").replace("l1d:1", "l1d:2")
SET = 704 << 10
"""Fits a last-level cache of 1 MiB; two do not."""
SECONDS = 3.0


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
def test_a_program_in_a_guest_misses_what_it_misses_by_cachegrind(tmp_path: Path) -> None:
    """By physical addresses, with a kernel beside it, and one set in 16 looked up."""
    program = compiled("numbers", tmp_path)
    theirs = misses(program, caches.read(SMALL), tmp_path / "cachegrind")
    with lasting(Qemu, tmp_path / "ledger") as qemu:
        qemu.simulate_caches(SMALL)
        guest = started(qemu, "app.1", 0)
        accounts = qemu.accounts()
        assert accounts is not None
        accounts.open()
        guest.put(program, "numbers")
        running = guest.spawn([str(guest.folder / "numbers"), "stay"], log="said")
        wait_until(lambda: bool(guest.text("said")), "the program's end", 60)
        time.sleep(2)  # beside others the last tick came a second late
        accounts.close()
        running.stop(5)
        found = list(accounts.counters() or ())
    assert {(row["domain"], row["source"]) for row in found} == {("app.1", "simulated")}
    kernels = [row for row in found if row["binary"] == "[kernel.kallsyms]"]
    assert {row["symbol"] for row in kernels} > {"__schedule", "clear_page_erms"}
    # Not of `fill`: the kernel has just cleared its pages, and missed in its place.
    # In the last level, whose sets physical addresses tell, only random ones meet alike.
    for event, symbols, near in (
        ("instructions", ("by_rows", "by_columns", "jump"), 0.02),
        ("L1-dcache-misses", ("by_rows", "by_columns", "jump"), 0.1),
        ("LLC-misses", ("jump",), 0.1),
    ):
        ours = by_symbol(found, event)
        ratios = {symbol: ours[symbol] / theirs[event][symbol] for symbol in symbols}
        figure(f"{event}: {ratios}")
        for symbol in symbols:
            assert ours[symbol] == pytest.approx(theirs[event][symbol], rel=near), (event, symbol)


def test_processes_that_come_and_go_have_their_code_in_common(tmp_path: Path) -> None:
    """Each has it at other addresses; there is room for 262,144 blocks."""
    with lasting(Qemu, tmp_path / "ledger") as qemu:
        qemu.simulate_caches(SMALL)
        guest = started(qemu, "app.1", 0)
        (counts,) = qemu.work.rglob("*.counts")
        before = blocks(counts)
        loop = "i=0; while [ $i -lt 100 ]; do ls / >/dev/null; i=$((i + 1)); done"
        assert guest.run(["sh", "-c", loop], timeout=120).status == 0
        figure(f"{blocks(counts) - before} blocks of 100 processes")
        assert blocks(counts) - before < 30_000


def blocks(counts: Path) -> int:
    """Numbers go up one by one."""
    lines = (line.split() for line in counts.read_text().splitlines())
    return max(int(words[1]) for words in lines if words[0] == "block")


def test_guests_on_one_package_have_less_room_than_on_two(tmp_path: Path) -> None:
    program = compiled("sharing", tmp_path)
    together = missed(program, ONE_PACKAGE, tmp_path / "one")
    apart = missed(program, TWO_PACKAGES, tmp_path / "two")
    figure(f"lines missed of those read: {together:.3f} on one package, {apart:.3f} on two")
    assert apart < 0.02
    # Where the guests are run in turn, each finds its set gone only in the first of many rounds.
    assert together > 0.04


def missed(program: Path, machine: str, folder: Path) -> float:
    """Of the lines that two guests read, which share was missed in the last level."""
    with lasting(Qemu, folder) as qemu:
        qemu.simulate_caches(machine)
        guests = [started(qemu, f"app.{number + 1}", number) for number in range(2)]
        for guest in guests:
            guest.put(program, "sharing")
            words = ("own", "1", str(SET), "100000000")
            guest.spawn([str(guest.folder / "sharing"), *words], log="said")
        time.sleep(SECONDS / 2)  # each has read its set
        accounts = qemu.accounts()
        assert accounts is not None
        accounts.open()
        time.sleep(SECONDS)
        accounts.close()
        found = list(accounts.counters() or ())
    for guest in guests:
        assert [row for row in found if runs(row, guest.spec.name)], "both were at work"
    reads = [row for row in found if runs(row)]
    return by_symbol(reads, "LLC-misses")["run"] / by_symbol(reads, "L1-dcache-misses")["run"]


def runs(row: Mapping[str, Any], name: str | None = None) -> bool:
    return row["symbol"] == "run" and name in (None, row["domain"])


def started(qemu: Qemu, name: str, pu: int) -> QemuDomain:
    domain = qemu.create(DomainSpec(name, Placement(pus=frozenset({pu})), vcpus=1))
    domain.start()
    return domain
