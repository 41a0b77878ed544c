"""Values as an experiment file has them."""

from __future__ import annotations

import json
import re
from typing import Any


def as_toml(value: Any) -> str:
    """A value as TOML writes it (its strings and numbers are JSON's), tables in one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{_key(name)} = {as_toml(each)}" for name, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(as_toml(each) for each in value)}]"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
