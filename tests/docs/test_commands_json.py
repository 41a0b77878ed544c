"""docs/reference/commands-json.md names every key that commands print, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import section
from typer.testing import CliRunner

from tests.cli.test_compare import run_folder
from tests.environments.test_image_cache import GUEST, built
from tierlab.analysis.comparing.compare import Difference
from tierlab.analysis.comparing.ground import Unlike
from tierlab.analysis.comparing.instability import Instability
from tierlab.analysis.knee.saturation import Saturation
from tierlab.analysis.knee.search import Knee
from tierlab.analysis.knee.step import Step
from tierlab.analysis.result import Result
from tierlab.cli.main import app
from tierlab.report.knee import FoundKnee, Knees
from tierlab.studies.compare import CaseRow, Comparison, Row
from tierlab.studies.published import Paper

PAGE = "commands-json.md"
MODELS: dict[str, type[Result]] = {
    "Difference": Difference,
    "Instability": Instability,
    "tierlab study": Comparison,
    "Row": Row,
    "CaseRow": CaseRow,
    "tierlab run --find-knee": Knees,
    "FoundKnee": FoundKnee,
    "Knee": Knee,
    "Step": Step,
}


def keys(heading: str) -> set[str]:
    """Those in the first column of a section's table."""
    cells = re.findall(r"^\| (`.+?) \|", section(PAGE, heading), re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(cells)))


def named(heading: str) -> set[str]:
    """All that a section names."""
    return set(re.findall(r"`(\w+)`", section(PAGE, heading)))


def printed(*command: str | Path) -> Any:
    """What a command prints: one document, or the first of its lines."""
    done = CliRunner().invoke(app, [*map(str, command), "--json"])
    assert done.exit_code == 0, done.output
    return json.JSONDecoder().raw_decode(done.stdout)[0]


@pytest.mark.parametrize("heading", list(MODELS))
def test_a_table_has_the_keys_that_there_are(heading: str) -> None:
    assert keys(heading) == set(MODELS[heading].model_fields)


def test_small_ones_stand_where_they_are_used() -> None:
    assert set(Unlike.model_fields) <= named("tierlab compare")
    assert set(Paper.model_fields) <= named("tierlab study")
    assert set(Saturation.model_fields) <= named("Knee")


def test_of_two_groups(tmp_path: Path) -> None:
    folders = [run_folder(tmp_path / name / "001", 4_000_000) for name in ("a", "b")]

    assert set(printed("compare", *folders)) == keys("tierlab compare")


def test_of_studies_listed() -> None:
    assert set(printed("study")) <= named("tierlab study")


def test_of_a_mapping(tmp_path: Path) -> None:
    file = tmp_path / "mapped.toml"
    file.write_text(
        '[experiment]\nname = "mapped"\n[load]\nusers = 1\n[system]\nworkload = "rubbos"\n'
        'mapping = "own-cores"\n'
    )

    (only,) = printed("map", file, "--machine", "pack:2 numa:1 core:4 pu:1")

    assert set(only) == keys("tierlab map")
    for server in only["servers"].values():
        assert {*server, *server["vcpus"][0]} <= named("tierlab map")


def test_of_this_machine() -> None:
    said = printed("doctor")

    assert set(said) == keys("tierlab doctor")
    assert set(said["checks"][0]) <= named("tierlab doctor")


def test_of_what_is_left_and_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built(GUEST)

    assert set(printed("clean", "--dry-run")) == keys("tierlab clean")
    assert set(printed("image", "prune", "--dry-run")) <= named("tierlab image")
    (only,) = printed("image", "list")
    assert set(only) == keys("Image")
