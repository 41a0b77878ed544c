"""Made runs and their reports."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "analyse"))

import made_run

from tests.profile import made_profile
from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis
from tierlab.report import build
from tierlab.tables.manifest import Manifest


@dataclass(frozen=True)
class Made:
    """A made run, its summary and its page."""

    folder: Path
    manifest: Manifest
    summary: Summary
    diagnosis: Diagnosis
    page: Path
    html: str


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A made run of four tiers, two databases and 9,000 requests, with a profile, reported."""
    folder = tmp_path_factory.mktemp("made")
    shape = made_run.Shape(requests=9_000, users=900, databases=2, seed=11)
    manifest = made_run.make(folder, shape)
    made_profile.add(folder)
    report = build(folder)
    html = report.page.read_text(encoding="utf-8")
    return Made(folder, manifest, report.summary, report.diagnosis, report.page, html)
