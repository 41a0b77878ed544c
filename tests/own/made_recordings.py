"""Recordings with odd entries among those of a visit to four pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.own.test_recorded import described, entry

SECRET = "b2c5f0e19a7d4836"


def written(folder: Path, *entries: Any) -> Path:
    file = folder / "v.har"
    file.write_text(json.dumps({"log": {"entries": entries}}))
    return file


def timed(*entries: Any) -> list[Any]:
    """The entries, three seconds apart."""
    for number, each in enumerate(entries):
        if isinstance(each, dict) and each.get("startedDateTime") == "2026-01-01T00:00:00Z":
            each["startedDateTime"] = f"2026-01-01T00:00:{3 * number:02d}Z"
    return list(entries)


def among(*odd: Any) -> list[Any]:
    """A visit with odd entries in its middle."""
    pages = [entry({"url": f"http://h/{path}"}) for path in ("", "items", "cart", "bye")]
    return timed(*pages[:2], *odd, *pages[2:])


def asked(file: Path) -> list[str]:
    return [each["interaction"].partition(" ")[2] for each in described(file)["states"]]


def thinks(file: Path) -> list[float]:
    """The mean think times, in seconds."""
    return [each["delay"]["mean_ns"] / 1e9 for each in described(file)["states"]]


ODD = {"url": "http://h/odd"}
WHOLE = ["/", "/items", "/cart", "/bye"]
