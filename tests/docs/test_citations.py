"""What the tree refers to, a reader of the tree can find."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pages import ROOT

ELSEWHERE = re.compile(r"\bDESIGN\b|\b[Ss]eed 0\d\d|\b[Pp]aper 0\d\d|\b[Tt]he paper on\b")
"""A document that is not in the tree, a number for one, and a paper that is not named."""
PUBLISHED = sorted((ROOT / "studies").glob("*.published.toml"))


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file that is kept, but for this one."""
    kept = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in kept.stdout.split("\0")[:-1]:
        path = ROOT / name
        if path != Path(__file__) and path.is_file():
            # What is no text: pictures, captures, and what fuzzing begins with.
            with suppress(UnicodeDecodeError):
                yield path, path.read_text("utf-8")


def test_nothing_refers_to_a_document_that_is_not_in_the_tree() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path, text in texts()
        for match in ELSEWHERE.finditer(text)
    }

    assert not found


def test_a_thesis_is_cited_by_its_author_and_year() -> None:
    speak = [(path, text) for path, text in texts() if re.search(r"\b[Tt]hesis\b", text)]

    assert speak
    for path, text in speak:
        assert "Park" in text, path
        assert "2016" in text, path


@pytest.mark.parametrize("table", PUBLISHED, ids=lambda path: path.name)
def test_a_study_names_the_year_of_its_paper(table: Path) -> None:
    paper = tomllib.loads(table.read_text(encoding="utf-8"))["paper"]

    assert re.search(r"\b(19|20)\d\d\b", paper["where"])
    assert not paper["author"].startswith("its")
