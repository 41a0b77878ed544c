"""A test that fails by chance is run again; one that always fails still fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

AGAIN = Path(__file__).with_name("again.py")
PASSES = "def test_passes():\n    with open('passes', 'a') as runs: runs.write('.')\n"
AT_FIRST = """
from pathlib import Path
def test_fails_at_first():
    Path("runs").open("a").write(".")
    assert len(Path("runs").read_text()) == {}
"""
ALWAYS = "def test_always_fails():\n    assert False\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").touch()
    return tmp_path


def run(folder: Path, *texts: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_made.py").write_text("".join(texts))
    return subprocess.run(
        [sys.executable, AGAIN, "-q"], cwd=folder, capture_output=True, text=True, check=False
    )


def test_what_passes_is_run_once(folder: Path) -> None:
    done = run(folder, PASSES)
    assert done.returncode == 0, done.stdout
    assert (folder / "passes").read_text() == "."
    assert done.stdout.splitlines()[-1].startswith("1 passed")


@pytest.mark.parametrize("passes", [2, 3])
def test_what_fails_by_chance_is_run_again_and_nothing_else_is(folder: Path, passes: int) -> None:
    done = run(folder, PASSES, AT_FIRST.format(passes))
    assert done.returncode == 0, done.stdout
    assert (folder / "passes").read_text() == "."
    assert done.stdout.splitlines()[-2:] == [
        "tests: of all, 1 failed at first:",
        "  test_made.py::test_fails_at_first: passed when run again alone",
    ]


def test_what_fails_three_times_fails(folder: Path) -> None:
    done = run(folder, AT_FIRST.format(2), ALWAYS)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-3:] == [
        "tests: of all, 2 failed at first:",
        "  test_made.py::test_always_fails: failed again",
        "  test_made.py::test_fails_at_first: passed when run again alone",
    ]


def test_a_pytest_that_dies_is_not_run_again(folder: Path) -> None:
    """What it had not come to would count as passed."""
    done = run(folder, "import os\ndef test_dies():\n    os.abort()\n", PASSES)
    assert done.returncode not in (0, 1)
    assert not (folder / "passes").exists()
