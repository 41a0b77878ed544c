"""Users who follow links, from start pages on, in the driver's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tierlab.workloads.own.checks import rules, with_expected
from tierlab.workloads.sessions.description import State

OTHER = "another page"


def following(
    start: Sequence[str],
    pages: Sequence[str],
    avoid: Sequence[str],
    length: int,
    expect: Mapping[str, str],
) -> dict[str, Any]:
    """The description of users who begin at `start` and follow links of the site.

    `pages` are patterns of paths, each a kind of interaction; `length` the pages of a session in
    the mean: geometric, as if each were the last with the same probability.
    """
    kinds = [each for each in pages if each not in start]
    known = [path for path in start if "?" not in path and len(start) == 1]
    follow = {"except": list(avoid), "states": [[each, each] for each in (*known, *kinds)]}
    first = with_expected(_first(start), start[0], expect)
    others: list[State] = [
        with_expected({"name": name, "path": "/", "follow": follow}, name, expect)
        for name in (*kinds, OTHER)
    ]
    onward = [(OTHER, 1.0 - 1.0 / length), ("End", 1.0)]
    return {
        "name": "own pages",
        "home": first["name"],
        "states": [first, *others],
        "sessions": [
            {
                "name": "visitor",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {state["name"]: onward for state in (first, *others)},
            }
        ],
        "rules": rules(),
    }


def _first(start: Sequence[str]) -> State:
    """The page that a session begins with, drawn where there are several."""
    if len(start) == 1:
        return {"name": start[0], **target(start[0])}
    return drawn("a start page", start, [1.0] * len(start))


def drawn(name: str, targets: Sequence[str], weights: Sequence[float]) -> State:
    """A state that asks for one of several targets, each as likely as its weight says."""
    rows = {
        "columns": ["target"],
        "rows": [[each.removeprefix("/")] for each in targets],
        "weights": list(weights),
    }
    return {"name": name, "path": "/", "rest": [{"row": "target"}], "row": rows}


def target(path: str) -> dict[str, Any]:
    """The target of a state's request: what follows a question mark stands as it is."""
    plain, mark, query = path.partition("?")
    return {"path": plain} | ({"rest": [{"constant": mark + query}]} if mark else {})
