"""Fields of a HAR file, of whatever type a tool has written them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

MOST_SHOWN = 80
"""Characters of a text that a sentence shows."""

Pairs = tuple[tuple[str, str], ...]


def as_table(said: Any) -> Mapping[str, Any]:
    """Return a table; an empty one where it is none."""
    return said if isinstance(said, Mapping) else {}


def as_number(said: Any) -> float:
    """Return a number; 0 where it is none."""
    try:
        value = float(said)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return value if math.isfinite(value) else 0.0


def as_pairs(listed: Any) -> Pairs:
    """Return names and values; some tools have a table of them instead of a list."""
    if isinstance(listed, Mapping):
        listed = [{"name": name, "value": value} for name, value in listed.items()]
    found = []
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, Mapping) and each.get("name") is not None:
            value = each.get("value")
            found.append((clean(str(each["name"])), "" if value is None else clean(str(value))))
    return tuple(found)


def clean(text: str) -> str:
    """Return a text without halves of characters, which no file and no request can have."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def media_type(said: Any) -> str:
    """Return a type without its parameters, in lower case; empty where none is said."""
    return str(said or "").partition(";")[0].strip().lower()


def header(headers: Sequence[tuple[str, str]], name: str) -> str:
    """Return the value of the header whose name, in lower case, is `name`; empty if none is."""
    return next((value for said, value in headers if said.lower() == name), "")


def shown(text: str) -> str:
    """Return a text of a file's as a part of one line, of no great length."""
    line = "".join(each if each.isprintable() else "?" for each in " ".join(text.split()))
    return f"{line[:MOST_SHOWN]}..." if len(line) > MOST_SHOWN else line


def counted(count: int, what: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {what if count == 1 else plural or f'{what}s'}"
