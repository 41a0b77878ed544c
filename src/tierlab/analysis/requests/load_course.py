"""How much load was asked for when, by a shape or a log, and how much there was?"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tierlab.analysis.query import DETAIL, IN_SPAN, Connection, Floats, Ints, bounds, columns, row
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest

SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class LoadCourse:
    """Users of a closed loop (``is_closed``), or requests per second of an open one.

    ``asked`` has straight lines between its times. ``reached`` is, at the end of each second of the
    driver's, the users who are there, with those who think before their first request and those who
    should have left and wait for their reply still; of an open loop, the requests that began in
    each second, at its middle.
    ``system`` is empty where there is one.
    """

    system: str
    is_closed: bool
    asked_ns: Ints
    asked: Floats
    reached_ns: Ints
    reached: Floats


def load_courses(db: Connection, whole: Span, manifest: Manifest) -> list[LoadCourse]:
    """Return the course of each system's load that follows a shape, over the whole trial."""
    return list(_courses(db, whole, manifest))


def mean_users(db: Connection, whole: Span, span: Span, manifest: Manifest) -> dict[str, float]:
    """Return how many users there were on average in the span, by system (empty where there is
    one): those asked for or, where their number follows a shape, those who were there, and by the
    shape itself where the driver did not count them. An open loop has none.
    """
    asked = {system: load.get("users") for system, load in _loads(manifest).items()}
    shaped = {
        course.system: _mean(course, span)
        for course in load_courses(db, whole, manifest)
        if course.is_closed
    }
    return {system: float(users) for system, users in asked.items() if users is not None} | shaped


def _mean(course: LoadCourse, span: Span) -> float:
    inside = (course.reached_ns > span.start_ns) & (course.reached_ns <= span.end_ns)
    if inside.any():
        return float(course.reached[inside].mean())
    return mean_asked(course, span)


def mean_asked(course: LoadCourse, span: Span) -> float:
    """Return the users, or requests per second, that were asked for in the span on average."""
    between = (course.asked_ns > span.start_ns) & (course.asked_ns < span.end_ns)
    at_ns = np.concatenate([[span.start_ns], course.asked_ns[between], [span.end_ns]])
    asked = np.interp(at_ns, course.asked_ns, course.asked)
    return float(np.average((asked[1:] + asked[:-1]) / 2, weights=np.diff(at_ns)))


def replayed_rates(db: Connection, span: Span, manifest: Manifest) -> dict[str, float]:
    """Return how many requests per second a log that is sent again asked for in the span, by system
    (empty where there is one).
    """
    return {
        system: _intended(db, span, system) / span.seconds
        for system, load in _loads(manifest).items()
        if load.get("speed") is not None
    }


def _intended(db: Connection, span: Span, system: str) -> int:
    found = row(
        db,
        f"""SELECT count(*) AS requests FROM requests
            WHERE intended_ns {IN_SPAN} AND ($system = '' OR system = $system)""",
        {**bounds(span), "system": system},
    )
    return int(found["requests"])


def _loads(manifest: Manifest) -> Mapping[str, Mapping[str, Any]]:
    return {name: part.load for name, part in manifest.systems.items()} or {"": manifest.load}


def _courses(db: Connection, whole: Span, manifest: Manifest) -> Iterator[LoadCourse]:
    runtime = manifest.phase("runtime")
    for system, load in _loads(manifest).items():
        shape = load.get("shape")
        if runtime is None or not isinstance(shape, Mapping):
            continue
        is_closed = load.get("users") is not None
        curve = _asked(shape, whole, runtime.start_ns, is_closed)
        reached = (_users if is_closed else _starts)(db, whole, system)
        yield LoadCourse(system, is_closed, *curve, *reached)


def _asked(
    shape: Mapping[str, Any], whole: Span, start_ns: int, is_closed: bool
) -> tuple[Ints, Floats]:
    """The curve with the ramp-up before it, in which users begin one after the other, and the
    ramp-down after it.
    """
    times = [start_ns + int(at_ns) for at_ns, _ in shape["curve"]]
    loads = [float(load) for _, load in shape["curve"]]
    first = 0.0 if is_closed else loads[0]
    return (
        np.array([whole.start_ns, *times, max(whole.end_ns, times[-1])], dtype=np.int64),
        np.array([first, *loads, loads[-1]]),
    )


def _users(db: Connection, whole: Span, system: str) -> tuple[Ints, Floats]:
    found = columns(
        db,
        f"""SELECT t_ns + duration_ns AS end_ns, ({DETAIL} ->> 'users')::BIGINT AS users
            FROM events WHERE kind = 'driver_lag' AND subject = $subject AND t_ns {IN_SPAN}
            AND {DETAIL} ->> 'users' IS NOT NULL ORDER BY end_ns""",
        {**bounds(whole), "subject": f"driver.{system}" if system else "driver"},
    )
    return found["end_ns"], found["users"].astype(np.float64)


def _starts(db: Connection, whole: Span, system: str) -> tuple[Ints, Floats]:
    found = columns(
        db,
        f"""SELECT (start_ns - $start) // $width AS slot, count(*) AS started FROM requests
            WHERE start_ns {IN_SPAN} AND ($system = '' OR system = $system) GROUP BY slot""",
        {**bounds(whole), "width": SECOND_NS, "system": system},
    )
    # The last second is cut short: its count is no rate.
    started = np.zeros(whole.duration_ns // SECOND_NS)
    full = found["slot"] < started.size
    started[found["slot"][full]] = found["started"][full]
    middles = whole.start_ns + SECOND_NS * np.arange(started.size, dtype=np.int64) + SECOND_NS // 2
    return middles, started
