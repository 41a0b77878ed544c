"""What commands load: nothing that takes longer than what they do."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Made

HEAVY = (
    *("pandas", "pyarrow.compute", "ibis", "scipy", "pyVmomi", "pyroute2"),
    "tierlab.experiment.catalogue",
)
SCRIPT = """
import sys
from importlib import import_module
from tierlab.cli.main import main

verb, *arguments = sys.argv[1:]
import_module(f"tierlab.cli.{verb}")
if arguments:
    sys.argv[:] = ["tierlab", verb, *arguments]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
"""


def loaded(*arguments: str | Path) -> set[str]:
    """What of it a command loads; without arguments, a verb before it does anything."""
    script = f"{SCRIPT}print(*(each for each in {HEAVY} if each in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("verb", ["run", "clean"])
def test_a_verb_loads_nothing_that_takes_long(verb: str) -> None:
    assert not loaded(verb)


def test_a_report_needs_nothing_that_takes_long(made: Made, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(made.folder, folder)
    assert not loaded("report", folder)
