"""The page on the architecture is of this code."""

from __future__ import annotations

import re
import tomllib

from pages import DOCS, ROOT

PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
BASES = (ROOT, ROOT / "src" / "tierlab", ROOT / "agent" / "crates", ROOT / "agent")


def rows(heading: str) -> list[str]:
    """What a section's table names in its first column."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


def test_it_has_every_room_in_the_order_that_the_linter_holds() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]

    rooms = [room.removeprefix("tierlab.") for layer in layers for room in layer.split(" | ")]
    assert [*rows("Python's rooms"), "errors"] == rooms


def test_it_has_every_crate() -> None:
    crates = {path.parent.name for path in (ROOT / "agent" / "crates").glob("*/Cargo.toml")}

    assert set(rows("The agent's crates")) == crates


def test_the_files_that_it_names_are_there() -> None:
    named = re.findall(r"`([\w/]+/[\w/]+(?:\.\w+)?)`", PAGE)

    assert named
    for name in named:
        assert any((base / name).exists() for base in BASES), name
