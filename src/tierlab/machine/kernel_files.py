"""Reading the kernel's small files: a value, or None when there is none."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path) -> str | None:
    """The file's text without the line end; None when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\n\0 ")
    except OSError:
        return None


def read_number(path: Path) -> int | None:
    """The file's number; None when it has none."""
    text = read_text(path)
    try:
        return None if text is None else int(text)
    except ValueError:
        return None


def read_fields(path: Path) -> dict[str, str]:
    """`name: value` lines by name, the first of each."""
    fields: dict[str, str] = {}
    for line in (read_text(path) or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    return fields


def parse_list(text: str) -> tuple[int, ...]:
    """`"0-2,5"` as `(0, 1, 2, 5)`."""
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)
