"""What did each change that was made while the trial ran do? The stretch before it and after."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import Field

from tierlab.analysis.comparing.blocks import Blocks, blocks
from tierlab.analysis.comparing.compare import (
    FEWEST_BLOCKS,
    LEAST,
    Difference,
    compare_stretches,
)
from tierlab.analysis.query import DETAIL, IN_SPAN, Connection, bounds, rows
from tierlab.analysis.requests.load_course import (
    LoadCourse,
    load_courses,
    mean_asked,
    replayed_rates,
)
from tierlab.analysis.requests.migration import Migration, migration
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest

SETTLED_NS = 1_000_000_000
"""After a change, before its effect is measured."""
Event = dict[str, Any]
"""A row of `events`."""


class Change(Result):
    """A change, ``at_s`` from the start of the span. ``asked`` and ``found`` are by what was
    changed. ``before_s`` and ``after_s`` are how long was compared; ``differences`` is None, and
    ``why`` a sentence, where that is too short or the load was another. ``migration`` is None where
    nobody moved. ``together`` are the subjects of others that were made at the same moment: what
    was different is the doing of all of them.
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
    together: list[str] = Field(default_factory=list)


def changes(db: Connection, whole: Span, span: Span, manifest: Manifest) -> list[Change]:
    """Return the changes of the span, each compared between the one before it and the one after,
    where the load was the same; those of one moment alike. ``whole`` is the trial.
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
    moments = _moments(made)
    sides = list(pairwise(_stretches(moments, span)))
    cut = [_other_load(db, manifest, courses, each) or _cut(db, *each) for each in sides]
    found = iter(compare_stretches([each for each in cut if not isinstance(each, str)]))
    did = [each if isinstance(each, str) else next(found) for each in cut]
    return [
        _change(db, span, event, stretches, each).model_copy(
            update={"together": _subjects(other for other in moment if other is not event)}
        )
        for moment, stretches, each in zip(moments, sides, did, strict=True)
        for event in moment
    ]


def _moments(made: Sequence[Event]) -> list[list[Event]]:
    """The changes by moment: one that begins before the ones before it have settled is of theirs,
    as are those of several servers at the same time.
    """
    moments: list[list[Event]] = []
    settled_ns = 0
    for event in made:
        if moments and event["t_ns"] < settled_ns:
            moments[-1].append(event)
        else:
            moments.append([event])
        settled_ns = max(settled_ns, _end_ns(event) + SETTLED_NS)
    return moments


def _subjects(of: Iterable[Event]) -> list[str]:
    return list(dict.fromkeys(each["subject"] for each in of))


def _end_ns(event: Event) -> int:
    end: int = event["t_ns"] + event["duration_ns"]
    return end


def _stretches(moments: Sequence[Sequence[Event]], span: Span) -> Iterator[Span]:
    """The stretches between moments of changes, each once all of its moment have settled."""
    start = span.start_ns
    for moment in moments:
        yield Span(start, max(start, moment[0]["t_ns"]))
        start = min(span.end_ns, max(map(_end_ns, moment)) + SETTLED_NS)
    yield Span(start, span.end_ns)


def _other_load(
    db: Connection, manifest: Manifest, courses: Sequence[LoadCourse], sides: tuple[Span, Span]
) -> str | None:
    """A sentence that says so where a shape, or a log that is sent again, had the load be another:
    what that did is no change's doing.
    """
    if not all(side.duration_ns for side in sides):
        return None
    for what, unit, before, after in _loads(db, manifest, courses, sides):
        if abs(after - before) > LEAST * max(before, after):
            return f"its {what} asked for {before:.4g} {unit} before it and {after:.4g} after"
    return None


def _loads(
    db: Connection, manifest: Manifest, courses: Sequence[LoadCourse], sides: tuple[Span, Span]
) -> Iterator[tuple[str, str, float, float]]:
    """What asks for a load that is not the same all the time, its unit, how much on each side."""
    for course in courses:
        unit = "users" if course.is_closed else "requests/s"
        before, after = (mean_asked(course, side) for side in sides)
        yield "load.shape", unit, before, after
    rates = [replayed_rates(db, side, manifest) for side in sides]
    for system, before in rates[0].items():
        yield "log", "requests/s", before, rates[1][system]


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
    event: Event,
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
