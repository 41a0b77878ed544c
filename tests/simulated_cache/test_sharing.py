"""A last-level cache is its package's: whoever is on it has room in common, and lines.

On a busy machine QEMU's user emulation tells a plugin next to nothing of some threads, in one run
of some fifty: these tests are alone. Guests' virtual CPUs are there before any code of theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.simulated_cache.emulated import NEEDS_EMULATOR, compiled, counted, started, total
from tierlab.exchange.cache_counts import rows
from tierlab.machine.caches import Caches, Level, plugin

pytestmark = [NEEDS_EMULATOR, pytest.mark.alone]

KIB = 1 << 10
CACHES = Caches(Level(32 * KIB, 8), Level(32 * KIB, 8), Level(128 * KIB, 8), Level(1024 * KIB, 16))
SET = 704 * KIB
LINES = SET // 64
ROUNDS = 12
EVENTS = ("L1-dcache-misses", "LLC-misses")
Counts = dict[str, int]
ONE_PACKAGE, TWO_PACKAGES = [0, 0, 0], [0, 0, 1]
"""The first virtual CPU is the thread that starts the others."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("sharing", tmp_path_factory.mktemp("program"))


@pytest.mark.parametrize("one_in", [1, 8])
def test_threads_with_sets_of_their_own_are_better_apart(
    program: Path, one_in: int, tmp_path: Path
) -> None:
    def missed(packages: Sequence[int]) -> int:
        return _missed(program, "own", packages, one_in, tmp_path)

    together, apart = missed(ONE_PACKAGE), missed(TWO_PACKAGES)
    assert apart == pytest.approx(2 * LINES, rel=0.25), "each reads its set once"
    assert together > 3 * apart


@pytest.mark.parametrize("one_in", [1, 8])
def test_threads_with_one_set_are_better_together(
    program: Path, one_in: int, tmp_path: Path
) -> None:
    def missed(packages: Sequence[int]) -> int:
        return _missed(program, "one", packages, one_in, tmp_path)

    together, apart = missed(ONE_PACKAGE), missed(TWO_PACKAGES)
    assert together == pytest.approx(LINES, rel=0.25), "the one reads it for the other"
    assert apart > 1.7 * together


@pytest.mark.parametrize("one_in", [1, 8])
def test_what_another_package_writes_is_missed(program: Path, one_in: int, tmp_path: Path) -> None:
    """Again in each round; on one package the last level has it for both."""

    def missed(packages: Sequence[int]) -> int:
        return _missed(program, "written", packages, one_in, tmp_path)

    assert missed(ONE_PACKAGE) == pytest.approx(LINES, rel=0.25), "who made it missed it"
    assert missed(TWO_PACKAGES) == pytest.approx((1 + ROUNDS) * LINES, rel=0.25)


def test_what_fits_is_lost_to_another_thread_alone(program: Path, tmp_path: Path) -> None:
    """A set that fits the first cache is missed by its reader each time that it was written."""
    few, rounds = 16 * KIB, 1_000

    def missed(kind: str) -> int:
        counts = _counts(program, kind, ONE_PACKAGE, 1, tmp_path, size=few, rounds=rounds)
        return counts["L1-dcache-misses"]

    assert missed("written") > 0.8 * rounds * few // 64
    assert missed("one") < 0.2 * rounds * few // 64


def test_programs_share_the_packages_of_one_machine(program: Path, tmp_path: Path) -> None:
    """Each is emulated by a process of its own; a file has the last-level caches."""

    def missed(places: Sequence[int]) -> int:
        name = "".join(map(str, places))
        outs = [tmp_path / f"counts-{name}-{space}" for space in range(2)]
        running = [
            started(
                plugin(CACHES, [place], out, shared=tmp_path / name, space=space),
                *(program, "own", "1", str(SET), "1500"),
            )
            for space, (place, out) in enumerate(zip(places, outs, strict=True))
        ]
        assert [each.wait(60) for each in running] == [0, 0]
        return sum(total(rows(out, "alone"), "LLC-misses") for out in outs)

    together, apart = missed([0, 0]), missed([0, 1])
    assert apart == pytest.approx(2 * LINES, rel=0.25)
    assert together > 3 * apart


def _missed(program: Path, kind: str, packages: Sequence[int], one_in: int, folder: Path) -> int:
    return _counts(program, kind, packages, one_in, folder)["LLC-misses"]


def _counts(
    program: Path,
    kind: str,
    packages: Sequence[int],
    one_in: int,
    folder: Path,
    *,
    size: int = SET,
    rounds: int = ROUNDS,
) -> Counts:
    out = folder / "counts"
    argument = plugin(CACHES, packages, out, one_in=one_in)
    found = counted(argument, out, program, kind, "2", str(size), str(rounds))
    return {event: total(found, event) for event in EVENTS}
