"""What users hold against a reply, and how they react: as a browser's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tierlab.errors import UserError
from tierlab.workloads.sessions.description import State

MOST_SHOWN = 12
"""Pages that a sentence lists."""
_ANY_PATH = re.compile(r"/?\*+")


def rules() -> dict[str, Any]:
    """Cookies are kept for a session, and a reply's word where to go is followed."""
    return {"browser": True}


def with_expected(state: State, path: str, expect: Mapping[str, str]) -> State:
    """The state, whose page has to say what the narrowest pattern that `path` matches asks for."""
    return saying(state, expect, pattern_of(path, expect))


def saying(state: State, expect: Mapping[str, str], pattern: str | None) -> State:
    """The state, whose page has to say what this pattern asks for, if there is one."""
    if pattern is None:
        return state
    return state | {"expect": state.get("expect", {}) | {"text": expect[pattern]}}


def pattern_of(path: str, patterns: Iterable[str]) -> str | None:
    """The narrowest pattern that a path matches."""
    return narrowest(each for each in patterns if matches(each, path))


def narrowest(patterns: Iterable[str]) -> str | None:
    """The first that matches no more than any other."""
    return next(iter(narrowest_first(patterns)), None)


def check_matched(expect: Mapping[str, str], paths: Iterable[str], source: str) -> None:
    """`UserError` that names the pattern which none of the pages of a record is of."""
    pages = list(dict.fromkeys(paths))
    for pattern in expect:
        if not any(matches(pattern, page) for page in pages):
            rest = f" and {len(pages) - MOST_SHOWN} others" if len(pages) > MOST_SHOWN else ""
            raise UserError(
                f'{source}: has no page that is "{pattern}", as expect has it; name one of'
                f" {', '.join(pages[:MOST_SHOWN])}{rest}."
            )


def matches(pattern: str, path: str) -> bool:
    """Whether a path matches a pattern, in which `*` is any text.

    Of another pattern as a path: whether all that it matches does.
    """
    parts = map(re.escape, pattern.split("*"))
    return re.fullmatch(".*".join(parts), path, re.DOTALL) is not None or pattern == path


def is_of_all(pattern: str) -> bool:
    """Whether every path matches a pattern."""
    return _ANY_PATH.fullmatch(pattern) is not None


def narrowest_first(patterns: Iterable[str]) -> list[str]:
    """The patterns, each once and before those that match all that it does; else as they were."""
    found: list[str] = []
    for pattern in dict.fromkeys(patterns):
        wider = (at for at, other in enumerate(found) if matches(other, pattern))
        found.insert(next(wider, len(found)), pattern)
    return found
