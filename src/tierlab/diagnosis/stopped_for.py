"""For how much of a wait was a server stopped? Ticks tell of whole ones only."""

import numpy as np

from tierlab.analysis.query import Bools, Floats
from tierlab.diagnosis.evidence import CORES, STOPPED
from tierlab.diagnosis.signals import LEAST_CORES, Signal
from tierlab.diagnosis.stall_context import StallContext


def stopped_for(context: StallContext) -> float:
    """Return the share of the window in which the server was stopped, 0 where nobody looked: the
    ticks in which its threads were seen stopped, and of one beside them as much as it used less CPU
    than usual. Only a tick without CPU is looked at, so the stop's first and last are not.
    """
    halted, used = context.signal("domain", STOPPED), context.signal("domain", CORES)
    if halted is None or used is None:
        return 0.0
    window = context.window
    seen: Bools = np.isin(used.end_ns, halted.end_ns[halted.value > 0.0])
    beside = np.append(seen[1:], False) | np.append(False, seen[:-1])
    stopped = np.where(seen, 1.0, beside * _lacking(used))
    inside_ns = np.minimum(used.end_ns, window.end_ns) - np.maximum(used.start_ns, window.start_ns)
    return float((stopped * np.maximum(inside_ns, 0)).sum()) / (window.end_ns - window.start_ns)


def _lacking(used: Signal) -> Floats:
    """Return by what share of the usual each tick has less; 0 where next to nothing is usual."""
    usual = used.usual
    if usual < LEAST_CORES:
        return np.zeros(used.value.size)
    return np.asarray(np.clip(1.0 - used.value / usual, 0.0, 1.0))
