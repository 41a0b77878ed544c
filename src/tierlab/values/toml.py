"""Values as an experiment file has them."""

from __future__ import annotations

import json
from typing import Any


def as_toml(value: Any) -> str:
    """A value as TOML writes it (its strings, numbers and lists are JSON's)."""
    return json.dumps(value, ensure_ascii=False)
