"""Run a suite of tests, stage by stage, and say what took longer than its budget.

    python tests/suite.py test|environments

What fails is run again alone, at most twice: the machine is shared, and a core that is taken away
for a second may fail a test although nothing is wrong. That is for chance: where more than three
tests fail, nothing is run again. A stage that could not do its work ends the suite: what it had not
come to would count as passed. How long each stage and test took is kept in `build/tests`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from tierlab.environments.files import remove_tree

REPEATED_TESTS = 3
REPETITIONS = 2
SLOWEST = 20
FAILED, NONE_COLLECTED = 1, 5
"""pytest's exit status when tests failed, and when none was selected."""
KEPT = Path("build/tests")
WRITTEN = "tests-"
"""Begins the names of the folders in which tests write."""
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")
PYTEST = (sys.executable, "-m", "pytest")
SIDE_BY_SIDE = ("--numprocesses", "3", "--dist", "worksteal")
"""One more than the cores: tests wait much."""
LOCKED = ("--locked", "--quiet", "--lib", "--bins", "--tests")
"""Without the documentation's examples: there are none, and each crate's are built to find that."""
GUESTS = ("--numprocesses", "2", "--dist", "loadgroup", "--no-loadscope-reorder")
"""Emulated machines wait little: a third would only make them slower."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""Tests run beside each other: a pool of threads in each would only wait for the other cores."""


@dataclass(frozen=True)
class Stage:
    """A command, and how many seconds it should take at most on two cores."""

    name: str
    budget_s: int
    command: tuple[str, ...]
    folder: str = "."


def modules(mark: str, root: Path = Path(__file__).parent) -> tuple[str, ...]:
    """Where tests with a mark are: a lane of few need not import all the others first. What a
    conftest.py marks is in its folder.
    """
    say = f"mark.{mark}"
    files = [each for each in sorted(root.rglob("*.py")) if say in each.read_text("utf-8")]
    return tuple(str(each.parent if each.name == "conftest.py" else each) for each in files)


def lane(name: str, budget_s: int, marks: str, *arguments: str) -> Stage:
    """The stage of the tests with these marks."""
    return Stage(name, budget_s, (*PYTEST, "-m", marks, *arguments))


SUITES = {
    "test": (
        Stage("agent", 40, ("cargo", "test", *LOCKED, "--workspace"), "agent"),
        Stage("kernels", 5, ("cargo", "test", *LOCKED), "apps/kernels"),
        Stage("application", 15, ("mvn", "-q", "-B", "test"), "apps/rubbos"),
        lane("side by side", 370, "not environments and not alone", *SIDE_BY_SIDE),
        lane("alone", 170, "not environments and alone", *modules("alone")),
    ),
    "environments": (
        lane("side by side", 700, "environments and not alone", *GUESTS),
        lane("alone", 500, "environments and alone", *modules("alone")),
    ),
}
"""Tests run side by side where none measures time."""


@dataclass(frozen=True)
class Took:
    """How long a stage took, in seconds, and how it ended."""

    stage: Stage
    seconds: float
    status: int

    @property
    def over(self) -> bool:
        """Whether it took longer than it should."""
        return self.seconds > self.stage.budget_s


def run(stage: Stage, *arguments: str) -> Took:
    """Run a stage in a process of its own."""
    print(f"tests: {stage.name}", flush=True)
    began = time.monotonic()
    command, place = [*stage.command, *arguments], stage.folder
    done = subprocess.run(command, cwd=place, env=os.environ | ONE_THREAD, check=False)
    return Took(stage, time.monotonic() - began, done.returncode)


def run_pytest(stage: Stage, name: str) -> Took:
    """Run a stage of tests. What these wrote is removed if all passed, many files at once: pytest
    removes what is of three runs ago, one by one, and of thousands that takes minutes. Else it is
    kept until the next run.
    """
    left = KEPT / f"{name}.left"
    # Of a run that was killed just then it may hold no name, which would be this folder.
    if left.exists() and (old := Path(left.read_text())).name.startswith(WRITTEN):
        remove_written(old)
    written = Path(mkdtemp(prefix=WRITTEN))
    left.write_text(str(written))
    took = run(stage, f"--junitxml={KEPT / f'{name}.xml'}", f"--basetemp={written}")
    if took.status in (0, NONE_COLLECTED):
        remove_written(written)
        left.unlink()
    else:
        print(f"tests: what {stage.name} wrote is in {written}")
    return took


def remove_written(folder: Path) -> None:
    """What stays there, as something mounted does, fails no test."""
    with suppress(OSError):
        remove_tree(folder)


def failed() -> list[str]:
    """What failed when it was run last, of all stages."""
    return sorted(json.loads(LAST_FAILED.read_text())) if LAST_FAILED.exists() else []


def repeat() -> int:
    """Run again alone what failed, unless it is too much for chance; the exit status."""
    at_first = failed()
    if not at_first:
        return 0
    if len(at_first) > REPEATED_TESTS:
        print(f"tests: {len(at_first)} failed, more than {REPEATED_TESTS}: none is run again")
    else:
        for number in range(1, REPETITIONS + 1):
            print(f"tests: {len(failed())} failed and run again alone, {number} of {REPETITIONS}")
            sys.stdout.flush()
            command = (*PYTEST, "--last-failed", "--last-failed-no-failures", "none")
            status = subprocess.run(command, check=False).returncode
            if status not in (FAILED, NONE_COLLECTED, 0):
                return status
            if not failed():
                break
    print(f"tests: of all, {len(at_first)} failed at first:")
    for name in at_first:
        print(f"  {name}: {'failed' if name in failed() else 'passed when run again alone'}")
    return FAILED if failed() else 0


def slowest(suite: str) -> list[tuple[float, str]]:
    """Seconds and name of the tests that took longest, from what pytest kept."""
    found = [
        (float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}")
        for file in KEPT.glob(f"{suite}-*.xml")
        for case in ET.parse(file).getroot().iter("testcase")
    ]
    return sorted(found, reverse=True)[:SLOWEST]


def tell(suite: str, all_took: Sequence[Took]) -> None:
    """Print what took how long beside its budget, and keep it."""
    durations = {took.stage.name: round(took.seconds, 1) for took in all_took}
    (KEPT / f"{suite}.json").write_text(json.dumps(durations, indent=1))
    print("tests: the slowest")
    for seconds, name in slowest(suite):
        print(f"  {seconds:6.1f} s  {name}")
    print("tests: stage                    took    budget")
    for took in all_took:
        mark = "  over its budget" if took.over else ""
        print(f"  {took.stage.name:22} {took.seconds:6.0f} s {took.stage.budget_s:7} s{mark}")
    whole = sum(took.seconds for took in all_took)
    budget = sum(took.stage.budget_s for took in all_took)
    print(f"  {'all':22} {whole:6.0f} s {budget:7} s{'  over its budget' * (whole > budget)}")


def main(suite: str, stages: Sequence[Stage]) -> int:
    """Returns 0 when every test passed, at first or when it was run again."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in (*KEPT.glob(f"{suite}-*.xml"), LAST_FAILED):
        old.unlink(missing_ok=True)
    all_took = []
    for number, stage in enumerate(stages):
        is_pytest = stage.command[: len(PYTEST)] == PYTEST
        took = run_pytest(stage, f"{suite}-{number}") if is_pytest else run(stage)
        all_took.append(took)
        if took.status not in ((0, FAILED, NONE_COLLECTED) if is_pytest else (0,)):
            print(f"tests: {stage.name} ended with status {took.status}: the rest is not run")
            return took.status
    status = repeat()
    tell(suite, all_took)
    return status


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in SUITES:
        sys.exit(f"usage: python tests/suite.py {'|'.join(SUITES)}")
    sys.exit(main(sys.argv[1], SUITES[sys.argv[1]]))
