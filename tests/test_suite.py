"""A suite: what fails by chance is run again, what always fails still fails, times are kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suite import GUESTS, LAST_FAILED, PYTEST, modules

ALONE = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
MADE = """
import sys
from tests.suite import lane, main
sys.exit(main("made", (lane("first", 60, "first"), lane("second", 0, "not first"))))
"""
MARKS = "[pytest]\nmarkers = first\n"
PASSES = "def test_passes():\n    with open('passes', 'a') as runs: runs.write('.')\n"
AT_FIRST = """
import pytest
from pathlib import Path
@pytest.mark.first
def test_fails_at_first():
    Path("runs").open("a").write(".")
    assert len(Path("runs").read_text()) == {}
"""
GROUPED = """
import os
import pytest
from pathlib import Path
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("name", ["one", "other"])
def test_grouped(name, number):
    with Path(f"{name}-{os.environ['PYTEST_XDIST_WORKER']}").open("a") as runs:
        runs.write(".")
    assert (name, number) != ("other", 3)
"""
GROUPS = """
import pytest
from tests.conftest import pytest_runtest_logreport
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.xdist_group(item.callspec.params["name"]))
"""
ALWAYS = "def test_always_fails{}():\n    assert False\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text(MARKS)
    return tmp_path


def run(folder: Path, *texts: str) -> tuple[int, list[str]]:
    """The suite's exit status and what it printed of its own."""
    (folder / "test_made.py").write_text("".join(texts))
    done = subprocess.run(
        [sys.executable, "-c", MADE],
        cwd=folder,
        env=ALONE | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, [line for line in done.stdout.splitlines() if line]


def test_what_passes_is_run_once_and_its_time_is_told(folder: Path) -> None:
    status, lines = run(folder, PASSES)
    assert status == 0, lines
    assert (folder / "passes").read_text() == "."
    assert any(line.startswith("1 passed") or " 1 passed" in line for line in lines)
    assert lines[-2].split()[0] == "second"
    assert lines[-2].endswith("over its budget")
    assert not lines[-3].endswith("over its budget")
    assert set(json.loads((folder / "build/tests/made.json").read_text())) == {"first", "second"}


def test_what_passed_tests_wrote_is_removed_and_what_failed_ones_did_is_named(folder: Path) -> None:
    writes = "def test_writes(tmp_path):\n    (tmp_path / 'file').write_text('content')\n"
    status, lines = run(folder, PASSES, writes)
    assert status == 0, lines
    assert not list(folder.glob("tests-*"))
    status, lines = run(folder, writes, ALWAYS.format(""))
    (kept,) = folder.glob("tests-*")
    assert f"tests: what second wrote is in {kept}" in lines
    assert next(kept.rglob("file")).read_text() == "content"
    run(folder, writes, ALWAYS.format(""))
    (newer,) = folder.glob("tests-*")
    assert newer != kept


def test_a_run_that_was_killed_as_it_began_has_nothing_removed(folder: Path) -> None:
    (folder / "build/tests").mkdir(parents=True)
    (folder / "build/tests/made-1.left").touch()
    (folder / "mine").write_text("content")
    status, lines = run(folder, PASSES)
    assert status == 0, lines
    assert (folder / "mine").read_text() == "content"


@pytest.mark.parametrize("passes", [2, 3])
def test_what_fails_by_chance_is_run_again_and_nothing_else_is(folder: Path, passes: int) -> None:
    status, lines = run(folder, PASSES, AT_FIRST.format(passes))
    assert status == 0, lines
    assert (folder / "passes").read_text() == "."
    assert "tests: of all, 1 failed at first:" in lines
    assert "  test_made.py::test_fails_at_first: passed when run again alone" in lines


def test_what_fails_three_times_fails(folder: Path) -> None:
    status, lines = run(folder, AT_FIRST.format(2), ALWAYS.format(""))
    assert status == 1, lines
    assert "  test_made.py::test_always_fails: failed" in lines
    assert "  test_made.py::test_fails_at_first: passed when run again alone" in lines


def test_more_failures_than_chance_brings_are_not_run_again(folder: Path) -> None:
    status, lines = run(folder, AT_FIRST.format(2), *map(ALWAYS.format, range(3)))
    assert status == 1, lines
    assert (folder / "runs").read_text() == "."
    assert "tests: 4 failed, more than 3: none is run again" in lines


def test_a_pytest_that_dies_ends_the_suite(folder: Path) -> None:
    """What it had not come to would count as passed."""
    status, lines = run(folder, "import os\ndef test_dies():\n    os.abort()\n", PASSES)
    assert status not in (0, 1), lines
    assert not (folder / "passes").exists()


def test_a_lane_of_few_imports_only_where_they_are(tmp_path: Path) -> None:
    for place, text in {
        "one/test_marked.py": "@pytest.mark.alone\ndef test_it(): ...",
        "one/test_other.py": "def test_alone(): ...",
        "all/conftest.py": "pytestmark = [pytest.mark.alone]",
        "all/test_unmarked.py": "def test_it(): ...",
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    assert modules("alone", tmp_path) == (
        str(tmp_path / "all"),
        str(tmp_path / "one/test_marked.py"),
    )


def test_a_groups_tests_are_one_workers_and_keep_their_names(folder: Path) -> None:
    """What is made for a module's tests is made once, and what failed is found again."""
    (folder / "conftest.py").write_text(GROUPS)
    (folder / "test_made.py").write_text(GROUPED)
    command = [*PYTEST, "-p", "xdist", *GUESTS]
    subprocess.run(command, cwd=folder, env=ALONE, capture_output=True, check=False)
    assert sorted(path.read_text() for path in folder.glob("one*")) == ["......"]
    assert sorted(path.read_text() for path in folder.glob("other*")) == ["......"]
    assert json.loads((folder / LAST_FAILED).read_text()).keys() == {
        "test_made.py::test_grouped[other-3]"
    }
