"""What a system did at one load: a step of a trial whose load rises step by step.

The beginning of a step belongs to the change of load and is left out. The rest is cut into windows,
which are drawn with replacement to say how sure its figures are (the block bootstrap: H. R. Künsch,
"The Jackknife and the Bootstrap for General Stationary Observations", Annals of Statistics 17,
1989).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tierlab.analysis.comparing.blocks import BINS, bin_of, middle_s
from tierlab.analysis.knee.limits import Limits, limits
from tierlab.analysis.query import IN_SPAN, Connection, Floats, bounds, columns
from tierlab.analysis.requests.load_course import LoadCourse, load_courses
from tierlab.analysis.requests.responses import FAILED, RESPONSE_NS
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest

SETTLING = 0.3
"""Share of a step that belongs to the change of load."""

WINDOW_NS = 250_000_000


class Step(Result):
    """A load (users who were there, or the requests per second that were asked for) and what was
    seen at it: successful requests per second, requests that ended, the share that failed, and
    response times of the successful ones; None where there were none.
    """

    trial: str
    load: float
    seconds: float
    throughput: float
    count: int
    failed: float | None
    mean_s: float | None
    p50_s: float | None
    p99_s: float | None


@dataclass(frozen=True)
class Windows:
    """A step's windows: every array's first axis is the windows."""

    trial: str
    load: float
    seconds: float
    """Of all of them."""
    done: Floats
    """Requests that ended well."""
    failed: Floats
    time_s: Floats
    """Response times of those that ended well, added up."""
    times: Floats
    """How many had which response time: shape (windows, BINS)."""
    limits: Limits | None = None
    """How it stands to its benchmark's rules, if it has some."""

    def step(self) -> Step:
        """Its figures."""
        once = np.ones((1, self.done.size))
        done, count = float(self.done.sum()), int(self.done.sum() + self.failed.sum())

        def quantile_s(share: float) -> float | None:
            return float(self.quantile_s(share, once)[0]) if done else None

        return Step(
            trial=self.trial,
            load=self.load,
            seconds=self.seconds,
            throughput=done / self.seconds,
            count=count,
            failed=float(self.failed.sum()) / count if count else None,
            mean_s=float(self.time_s.sum()) / done if done else None,
            p50_s=quantile_s(0.5),
            p99_s=quantile_s(0.99),
        )

    def quantile_s(self, share: float, drawn: Floats) -> Floats:
        """A quantile of the response times with each window so often, shape (draws, windows):
        seconds by draw, infinite where none was successful.
        """
        used = np.flatnonzero(self.times.any(axis=0))
        if not used.size:
            return np.full(drawn.shape[0], np.inf)
        reached = np.cumsum(drawn @ self.times[:, used], axis=1)
        place = np.argmax(reached >= share * reached[:, -1:], axis=1)
        return np.where(reached[:, -1] > 0, middle_s(used[place].astype(np.float64)), np.inf)

    def mean_s(self, drawn: Floats) -> Floats:
        """The same of their mean."""
        done = drawn @ self.done
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(done > 0, drawn @ self.time_s / done, np.inf)

    def failed_share(self, drawn: Floats) -> Floats:
        """The same of the share that failed; of no requests none did."""
        failed, done = drawn @ self.failed, drawn @ self.done
        return failed / np.maximum(failed + done, 1.0)


def steps(db: Connection, whole: Span, manifest: Manifest) -> list[Windows]:
    """Return the steps of a trial's load, in order of time: the level parts of its curve; none
    where it follows no shape or was broken off before the runtime's end.
    """
    runtime = manifest.phase("runtime")
    courses = load_courses(db, whole, manifest)
    if runtime is None or not courses:
        return []
    (course,) = courses
    found = []
    for asked, span in _level(course):
        if span.start_ns < runtime.start_ns or span.end_ns > runtime.end_ns:
            continue
        users = _users(course, span) if course.is_closed else None
        seen = windows(db, span, asked if users is None else users, manifest.trial)
        if manifest.rules is not None:
            judged = limits(db, span, WINDOW_NS, manifest.rules, users)
            seen = replace(seen, limits=judged)
        found.append(seen)
    return found


def _level(course: LoadCourse) -> Iterator[tuple[float, Span]]:
    """The level parts of the runtime's curve, each without its beginning, in whole windows."""
    points = list(zip(course.asked_ns.tolist(), course.asked.tolist(), strict=True))[1:-1]
    for (start_ns, load), (end_ns, then) in pairwise(points):
        count = int((end_ns - start_ns) * (1 - SETTLING)) // WINDOW_NS
        if load == then and count:
            yield load, Span(end_ns - count * WINDOW_NS, end_ns)


def _users(course: LoadCourse, span: Span) -> float:
    """How many were there, on the mean."""
    inside = (course.reached_ns > span.start_ns) & (course.reached_ns <= span.end_ns)
    if inside.any():
        return float(course.reached[inside].mean())
    return float(np.interp(span.end_ns, course.reached_ns, course.reached))


def windows(db: Connection, span: Span, load: float, trial: str) -> Windows:
    """Return what ended in a span at one load, in whole windows."""
    span = Span(span.start_ns, span.end_ns - span.duration_ns % WINDOW_NS)
    count = span.windows(WINDOW_NS)
    found = columns(
        db,
        f"""SELECT (end_ns - $start) // {WINDOW_NS} AS part, {RESPONSE_NS} / 1e9 AS time_s,
            {FAILED} AS failed FROM requests WHERE end_ns {IN_SPAN}""",
        bounds(span),
    )
    part, good = found["part"].astype(np.int64), ~found["failed"].astype(bool)
    time_s = found["time_s"].astype(np.float64)
    cells = part[good] * BINS + bin_of(time_s[good])
    return Windows(
        trial=trial,
        load=load,
        seconds=span.seconds,
        done=np.bincount(part[good], minlength=count).astype(np.float64),
        failed=np.bincount(part[~good], minlength=count).astype(np.float64),
        time_s=np.bincount(part[good], time_s[good], minlength=count).astype(np.float64),
        times=np.bincount(cells, minlength=count * BINS).reshape(count, BINS).astype(np.float64),
    )
