"""What did each change that was made while the trial ran do? The stretch before it and after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from tierlab.analysis.comparing.blocks import Blocks, blocks
from tierlab.analysis.comparing.compare import (
    FEWEST_BLOCKS,
    LEAST,
    Difference,
    compare_stretches,
)
from tierlab.analysis.query import DETAIL, IN_SPAN, Connection, bounds, rows
from tierlab.analysis.requests.load_course import LoadCourse, load_courses, mean_asked
from tierlab.analysis.requests.migration import Migration, migration
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest

SETTLED_NS = 1_000_000_000
"""After a change, before its effect is measured."""


class Change(Result):
    """A change, ``at_s`` from the start of the span. ``asked`` and ``found`` are by what was
    changed. ``before_s`` and ``after_s`` are how long was compared; ``differences`` is None, and
    ``why`` a sentence, where that is too short or the load was another. ``migration`` is None where
    nobody moved.
    """

    at_s: float
    subject: str
    asked: dict[str, Any]
    found: dict[str, Any]
    before_s: float
    after_s: float
    differences: list[Difference] | None
    why: str | None
    migration: Migration | None


def changes(db: Connection, whole: Span, span: Span, manifest: Manifest) -> list[Change]:
    """Return the changes of the span, each compared between the one before it and the one after,
    where the load was the same; ``whole`` is the trial.
    """
    courses = load_courses(db, whole, manifest)
    made = rows(
        db,
        f"""SELECT t_ns, duration_ns, subject, detail FROM events
            WHERE kind = 'change' AND t_ns {IN_SPAN} AND json_type({DETAIL}, '$.asked') = 'OBJECT'
                AND json_type({DETAIL}, '$.found') = 'OBJECT'
            ORDER BY t_ns""",
        bounds(span),
    )
    sides = list(pairwise(_stretches(made, span)))
    cut = [_other_load(courses, *each) or _cut(db, *each) for each in sides]
    found = iter(compare_stretches([each for each in cut if not isinstance(each, str)]))
    return [
        _change(db, span, event, stretches, each if isinstance(each, str) else next(found))
        for event, stretches, each in zip(made, sides, cut, strict=True)
    ]


def _stretches(made: Sequence[dict[str, Any]], span: Span) -> Iterator[Span]:
    """The stretches between changes, each once its change has settled."""
    start = span.start_ns
    for event in made:
        yield Span(start, max(start, event["t_ns"]))
        start = min(span.end_ns, event["t_ns"] + event["duration_ns"] + SETTLED_NS)
    yield Span(start, span.end_ns)


def _other_load(courses: Sequence[LoadCourse], before: Span, after: Span) -> str | None:
    """A sentence that says so where a shape had the load be another: what that did is no change's
    doing.
    """
    if not (before.duration_ns and after.duration_ns):
        return None
    for course in courses:
        asked = [mean_asked(course, side) for side in (before, after)]
        if max(asked) - min(asked) > LEAST * max(asked):
            unit = "users" if course.is_closed else "requests/s"
            return (
                f"its load.shape asked for {asked[0]:.4g} {unit} before it and {asked[1]:.4g} after"
            )
    return None


def _cut(db: Connection, before: Span, after: Span) -> tuple[Blocks, Blocks] | str:
    """Both stretches in blocks, or a sentence that says why they cannot be compared."""
    if why := _too_little(before, "before") or _too_little(after, "after"):
        return why
    both = blocks(db, before), blocks(db, after)
    if not all(each.done.any() for each in both):
        return "no request ended well on one side of it"
    return both


def _change(
    db: Connection,
    span: Span,
    event: dict[str, Any],
    sides: tuple[Span, Span],
    did: list[Difference] | str,
) -> Change:
    detail = json.loads(event["detail"])
    before, after = sides
    return Change(
        at_s=(event["t_ns"] - span.start_ns) / 1e9,
        subject=event["subject"],
        asked=detail["asked"],
        found=detail["found"],
        before_s=before.seconds,
        after_s=after.seconds,
        differences=None if isinstance(did, str) else did,
        why=did if isinstance(did, str) else None,
        migration=migration(db, detail.get("migration")),
    )


def _too_little(stretch: Span, side: str) -> str | None:
    if stretch.seconds >= FEWEST_BLOCKS:
        return None
    return (
        f"{stretch.seconds:.1f} s {side} it are too short to compare: {FEWEST_BLOCKS} s are needed"
    )
