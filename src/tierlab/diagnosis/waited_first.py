"""Had requests waited before the CPUs were full? Then these work off what something else had held.

Demand beyond capacity fills the CPUs first, and the queue grows from there on by what comes beyond
what is served. Behind whatever holds requests it is as long as it gets by when the CPUs have work
again.
"""

from collections.abc import Sequence

import numpy as np

from tierlab.analysis.query import Ints
from tierlab.analysis.resources.metrics import SATURATED
from tierlab.analysis.span import WINDOW_NS
from tierlab.diagnosis.causes import overload
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.run_context import RunContext

AS_MANY = 0.5
"""Of the most who wait in an overload: if more had come before the CPUs were full, it left them."""

PAUSE = 0.25
"""Of an overload's length: for so long its CPUs may have less to do, as a queue runs empty by
chance."""

LONGEST_PAUSE_NS = 1_000_000_000
"""A longer time with CPU to spare is its end, however long it lasts."""

SEEN_NS = 100_000_000
"""CPUs are seen full a tick or two after they are."""

STEP_NS = 10_000_000
"""Queues are looked at so often."""


def without_waited_first(found: Sequence[Occurrence], run: RunContext) -> list[Occurrence]:
    """Leave out each overload whose requests had waited before it."""
    return [each for each in found if each.cause != overload.NAME or not waited_first(each, run)]


def waited_first(overloaded: Occurrence, run: RunContext) -> bool:
    """Say whether of those who wait at the first server while the CPUs are full most had waited
    when these came to be. Nothing is said where messages or CPUs were not seen.
    """
    began_ns = _full_from(overloaded, run)
    entry = run.entry_of(overloaded.subject)
    usual = run.usually_in_progress(entry)
    if began_ns is None or usual is None:
        return False
    end_ns = overloaded.stall.window.end_ns
    before = run.in_progress(entry, _instants(began_ns - SEEN_NS, began_ns)).max()
    most = run.in_progress(entry, _instants(began_ns, end_ns)).max()
    return float(before) - usual >= AS_MANY * (float(most) - usual) > 0.0


def _full_from(overloaded: Occurrence, run: RunContext) -> int | None:
    """Return since when the CPUs were full but for pauses; None where they were not, or nobody
    knows.
    """
    window = overloaded.stall.window
    names = run.cores.of(overloaded.subject, window.start_ns)
    busy = run.signals.together("cpu", "busy", names)
    if busy is None or not busy.start_ns.size:
        return None
    edge_ns = np.arange(busy.start_ns[0], window.end_ns + 1, WINDOW_NS, dtype=np.int64)
    if edge_ns.size < 2:
        return None
    full_ns = edge_ns[:-1][np.nan_to_num(busy.means(edge_ns)) >= SATURATED * len(names)]
    inside = int(np.searchsorted(full_ns, window.start_ns - WINDOW_NS))
    if inside == full_ns.size:
        return None
    pause_ns = min(PAUSE * (window.end_ns - window.start_ns), LONGEST_PAUSE_NS)
    parted = np.diff(full_ns[: inside + 1]) > WINDOW_NS + pause_ns
    return int(full_ns[: inside + 1][np.append(True, parted)][-1])


def _instants(start_ns: int, end_ns: int) -> Ints:
    return np.arange(start_ns, end_ns + STEP_NS, STEP_NS, dtype=np.int64)
