"""What users hold against a reply, and how they react: as a browser's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tierlab.workloads.sessions.description import State


def rules() -> dict[str, Any]:
    """Cookies are kept for a session, and a reply's word where to go is followed."""
    return {"browser": True}


def with_expected(state: State, path: str, expect: Mapping[str, str]) -> State:
    """The state, whose page has to say what the first pattern that `path` matches asks for."""
    for pattern, text in expect.items():
        if matches(pattern, path):
            return state | {"expect": state.get("expect", {}) | {"text": text}}
    return state


def matches(pattern: str, path: str) -> bool:
    """Whether a path matches a pattern, in which `*` is any text."""
    parts = map(re.escape, pattern.split("*"))
    return re.fullmatch(".*".join(parts), path, re.DOTALL) is not None or pattern == path
