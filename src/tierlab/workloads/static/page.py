"""The page, and its users: each asks for it again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tierlab.workloads.text.dictionary import dictionary

NAME = "static"
PATH = "/page.html"
WORDS = 600
"""Some 3 kB, as httpd's own test page had when it was measured with."""
_SEED = 1


def write(folder: Path) -> None:
    """Write the page, always the same, into a folder, which need not be there."""
    words = dictionary().draw(np.random.default_rng(_SEED), WORDS)
    body = "\n".join(f"<p>{' '.join(words[at : at + 80])}.</p>" for at in range(0, WORDS, 80))
    head = '<!doctype html>\n<html lang="en">\n<head><title>A page</title></head>\n'
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PATH[1:]).write_text(f"{head}<body>\n{body}\n</body>\n</html>\n", encoding="utf-8")


def users() -> dict[str, Any]:
    """The workload description, in the driver's form."""
    return {
        "name": NAME,
        "home": "Page",
        "states": [{"name": "Page", "path": PATH}],
        "sessions": [
            {
                "name": "reader",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {"Page": [("Page", 1.0)]},
            }
        ],
        "rules": {},
    }
