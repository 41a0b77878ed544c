"""What did the threads do that had several requests under way?

The time of an event loop's visits cannot be divided by what its thread did, as that worked on
others too. The thread's own time can: how much of it was spent on a CPU says how much room the loop
has left, and a loop that is ready to run, stopped or at the disk keeps all of its requests waiting.
"""

from __future__ import annotations

from typing import Final

from tierlab.analysis.query import Connection, bounds, rows
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span

STATES: Final = ("cpu", "runnable", "throttled", "stopped", "disk", "lock", "asleep")
"""What such a thread may be doing. ``asleep`` is all other sleep: a loop sleeps until something is
ready."""


class ThreadState(Result):
    """One of :data:`STATES`, and its share of the threads' time."""

    name: str
    share: float


class LoopThreads(Result):
    """Those of a server's threads that had several requests under way: how many were seen, how long
    all of them together, and what they did meanwhile.
    """

    threads: int
    seen_s: float
    states: list[ThreadState]


def loop_threads(db: Connection, span: Span) -> dict[str, LoopThreads]:
    """Return what such threads did in the span, by server (table ``threads``). Of a row that begins
    before the span the part within it counts, as if what it has were spread evenly.
    """
    sums = ", ".join(f"sum({name}_ns * within) AS {name}" for name in STATES)
    found = rows(
        db,
        f"""SELECT subject, count(DISTINCT (process, thread)) AS threads,
            sum(dt_ns * within) AS seen, {sums}
        FROM (
            SELECT *, (least(t_ns, $end) - greatest(t_ns - dt_ns, $start)) / dt_ns AS within
            FROM threads WHERE t_ns > $start AND t_ns - dt_ns < $end AND dt_ns > 0
        ) GROUP BY subject""",
        bounds(span),
    )
    return {
        each["subject"]: LoopThreads(
            threads=each["threads"],
            seen_s=each["seen"] / 1e9,
            states=[ThreadState(name=name, share=each[name] / each["seen"]) for name in STATES],
        )
        for each in found
    }
