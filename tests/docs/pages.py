"""The blocks of the documentation's pages: what is written to files, run, and expected.

A page's blocks are run in order in one folder. In a `console` block lines that begin with `$` are
commands, the lines below each are what it prints (`...` stands for anything); a `python` block is
run as a program; a `toml` or `text` block whose first line is `# file: NAME` is written to that
file. `slow` after the language marks what drives real servers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w+)(?: (slow))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^# file: (\S+)( \(does not load\))?\n")
LANGUAGES = {"console", "python", "toml", "text"}


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and whether it drives real servers."""

    language: str
    text: str
    slow: bool

    @property
    def file(self) -> str | None:
        """The file that a `toml` or `text` block is written to."""
        match = FILE.match(self.text) if self.language in {"toml", "text"} else None
        return match[1] if match else None

    @property
    def loads(self) -> bool:
        """Whether a `toml` block is meant to be right."""
        match = FILE.match(self.text)
        return match is None or match[2] is None

    def commands(self) -> list[tuple[str, str]]:
        """Commands, each with what it prints."""
        parts = re.split(r"^\$ ", self.text, flags=re.MULTILINE)
        assert not parts[0], f"a console block begins with a command, not with {parts[0]!r}"
        split = (part.partition("\n") for part in parts[1:])
        return [(command, printed) for command, _, printed in split]


def pages() -> list[Path]:
    """Every page, and the README."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The page's blocks in order; a fence of any other form is an error."""
    text = page.read_text(encoding="utf-8")
    found = [Block(m[1], m[3], m[2] == "slow") for m in FENCE.finditer(text)]
    fences = len(re.findall(r"^ *```", text, re.MULTILINE))
    assert fences == 2 * len(found), f"{page}: a fence that is not understood"
    unknown = {block.language for block in found} - LANGUAGES
    assert not unknown, f"{page}: blocks of {unknown} would not be run"
    return found


def section(page: str, heading: str) -> str:
    """The text below a second-level heading."""
    text = (DOCS / "reference" / page).read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    return parts[heading]
