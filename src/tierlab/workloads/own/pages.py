"""Users who follow links, from start pages on, in the driver's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tierlab.workloads.own.checks import (
    is_of_all,
    matches,
    narrowest,
    narrowest_first,
    rules,
    saying,
    with_expected,
)
from tierlab.workloads.sessions.description import State

OTHER = "another page"
START = "a start page"


def following(
    start: Sequence[str],
    pages: Sequence[str],
    avoid: Sequence[str],
    length: int,
    expect: Mapping[str, str],
) -> dict[str, Any]:
    """The description of users who begin at `start` and follow links of the site.

    `pages` are patterns of paths, each a kind of interaction, and so are those of `expect`; a page
    is of the narrowest. `length`: the pages of a session in the mean: geometric, as if each were
    the last with the same probability.
    """
    only = start[0] if len(start) == 1 else None
    of_all = narrowest(filter(is_of_all, expect))
    of_some = [each for each in expect if not is_of_all(each)]
    of_paths = [each for each in of_some if "?" not in each]
    # A query is a start page's alone: which page is one that is followed, its path says.
    of_starts = [each for each in of_some if "?" in each]
    known = [each for each in (only,) if each is not None and "?" not in each]
    kinds = narrowest_first([*known, *of_paths, *pages])
    follow = {"except": list(avoid), "states": [[each, each] for each in kinds]}
    if only is None:
        kinds = [*of_starts, *kinds]
        first = saying(_several(start, kinds), expect, of_all)
    else:
        of = narrowest(each for each in (*of_starts, *of_paths) if starts_as(each, only))
        first = saying({"name": only, **target(only)}, expect, of or of_all)
    states: list[State] = [
        first,
        *(
            with_expected({"name": name, "path": "/", "follow": follow}, name, expect)
            for name in kinds
            if name != only
        ),
        saying({"name": OTHER, "path": "/", "follow": follow}, expect, of_all),
    ]
    onward = [(OTHER, 1.0 - 1.0 / length), ("End", 1.0)]
    return {
        "name": "own pages",
        "home": first["name"],
        "states": states,
        "sessions": [
            {
                "name": "visitor",
                "share": 1.0,
                "identity": {"numbers": [1, 1], "values": {}},
                "transitions": {state["name"]: onward for state in states},
            }
        ],
        "rules": rules(),
    }


def _several(start: Sequence[str], kinds: Sequence[str]) -> State:
    """Pages of which a session begins with one, each of its kind."""
    state = drawn(START, start, [1.0] * len(start))
    of = [next((kind for kind in kinds if starts_as(kind, each)), START) for each in start]
    return state | {"row": state["row"] | {"states": of}}


def starts_as(pattern: str, start: str) -> bool:
    """Whether a start page is of a kind: by its path, or by all of it where that says so."""
    return matches(pattern, start) or matches(pattern, start.partition("?")[0])


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
