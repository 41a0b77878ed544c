"""Saturation that lasted: by which cause, and what of the stalls within it follows from it."""

from collections.abc import Sequence
from dataclasses import replace

from tierlab.diagnosis.attribution import Attribution, came_by_chance
from tierlab.diagnosis.causes import cpu, overload
from tierlab.diagnosis.evidence import CORES
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.merge import UNKNOWN, Occurrence
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.saturated import Saturated

MOSTLY = 0.5
"""A stall belongs to a lasting one that it shares so much of its time with."""

ECHOES = {UNKNOWN, overload.NAME, cpu.NAME, *overload.CAUSE.explains}
"""What an overload brings about by itself: everybody waits for CPUs, and that others have them is
told better by the whole of it than by any moment in it.
"""


def lasting(
    found: Sequence[Saturated], run: RunContext, attribution: Attribution
) -> list[Occurrence]:
    """Judge lasting saturations, of CPUs at the server that used most time of those that may
    run there; return those whose cause is known, and that chance does not bring at this load.
    """
    judged = [
        attribution.attribute(replace(each.stall, server=each.server or _busiest(each, run)))
        for each in found
    ]
    known = [each for each in judged if each.verdict.winner is not None]
    return [each for each in known if not came_by_chance(each)]


def _busiest(found: Saturated, run: RunContext) -> str:
    def used(server: str) -> float:
        signal = run.signals.get("domain", CORES, server)
        return 0.0 if signal is None else signal.mean(found.stall.window) or 0.0

    at_ns = found.stall.window.start_ns
    there = [name for name in run.servers if run.cores.of(name, at_ns) == found.cores]
    return max(there, key=used, default=run.entry)


def without_echoes(
    occurrences: Sequence[Occurrence], overloads: Sequence[Occurrence]
) -> list[Occurrence]:
    """Leave out what follows from an overload that lasted."""
    windows = [each.stall.window for each in overloads if each.cause == overload.NAME]
    return [
        each
        for each in occurrences
        if each.cause not in ECHOES or not any(_in(each.stall.core, one) for one in windows)
    ]


def _in(window: Window, lasting: Window) -> bool:
    shared = min(window.end_ns, lasting.end_ns) - max(window.start_ns, lasting.start_ns)
    return shared >= MOSTLY * (window.end_ns - window.start_ns)
