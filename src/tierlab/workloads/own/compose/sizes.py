"""Sizes of memory as Docker reads them.

Source: docker/go-units, `RAMInBytes`: units are powers of 1024 in either case, `k`, `kb` and `kib`
alike, and the number may have a fraction.
"""

from __future__ import annotations

import re
from typing import Any

_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+) ?(?:([kmgtp])(?:i?b)?|b)?", re.I)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def size_of(value: Any) -> int | None:
    """Return the number of bytes; None for what is no size."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return int(value) if 0 <= value < float("inf") else None
    found = _SIZE.fullmatch(str(value).strip())
    if found is None:
        return None
    return int(float(found[1]) * 1024 ** _POWERS[(found[2] or "").lower()])
