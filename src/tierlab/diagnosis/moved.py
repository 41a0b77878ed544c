"""What else moved with the windows whose cause is not known?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tierlab.analysis.query import Floats
from tierlab.analysis.resources.metrics import HELD_BACK
from tierlab.analysis.span import WINDOW_NS, Span
from tierlab.analysis.statistics.association import (
    LEVEL,
    Association,
    associations,
    indicator,
)
from tierlab.diagnosis.evidence import CORES, FAULTS, LOCK_WAITS, SOME
from tierlab.diagnosis.finding import Evidence, Window
from tierlab.diagnosis.signals import Signals

WATCHED = (
    ("pressure", SOME, "resource = 'cpu'", "wait for a CPU"),
    ("pressure", SOME, "resource = 'memory'", "wait for memory"),
    ("pressure", SOME, "resource = 'io'", "wait for I/O"),
    ("domain", CORES, "true", "use of CPU"),
    ("domain", FAULTS, "true", "major page faults"),
    ("domain", HELD_BACK, "true", "time held back by a CPU limit"),
    ("cpu", "busy", "true", "use of the core"),
    ("cpu", "iowait", "true", "wait for disks"),
    ("cpu", "steal", "true", "time stolen by a hypervisor"),
    ("disk", "busy", "true", "use of the device"),
    ("disk", "write_time_ns * 1.0 / dt_ns", "true", "writing"),
    ("memory", "major_faults * 1e9 / dt_ns", "true", "major page faults"),
    ("tcp", "retransmissions * 1e9 / dt_ns", "true", "segments sent again"),
    ("net", "(drops_in + drops_out) * 1e9 / dt_ns", "true", "packets dropped"),
    ("net", "queued_bytes", "true", "bytes waiting to be sent"),
    ("listen", "accept_queue", "true", "connections not accepted yet"),
    ("soft", "waiting", "true", "requests waiting for a soft resource"),
    ("database", "threads_running", "true", "statements running"),
    ("database", LOCK_WAITS, "true", "statements waiting for a lock"),
    ("database", "log_waits + buffer_pool_waits", "true", "waits for the log or the buffer pool"),
)
"""Table, figure, rows and what it says when it is high."""

RARE = LEVEL
"""What chance brings as seldom has moved."""

MOST = 3
"""So many figures are told."""


class Candidates:
    """Every watched figure of a run on one grid of windows, made when first asked for."""

    def __init__(self, signals: Signals, span: Span) -> None:
        self._signals = signals
        self._edge_ns = span.start_ns + WINDOW_NS * np.arange(
            span.duration_ns // WINDOW_NS + 1, dtype=np.int64
        )

    def moved(self, windows: list[Window]) -> list[Evidence]:
        """Return what rose with the windows or just before them, beyond chance, the least likely
        by chance first (:mod:`tierlab.analysis.statistics.association`).

        The shares by chance are corrected for the number of figures looked at, so that of all that
        is named 5 % are expected to be there by chance.
        """
        if self._edge_ns.size < 2:
            return []
        effect = indicator(((each.start_ns, each.end_ns) for each in windows), self._edge_ns)
        series = {str(number): each.series for number, each in enumerate(self._figures)}
        found = [each for each in associations(series, effect) if each.p_fdr <= RARE]
        return [self._said(each) for each in found[:MOST]]

    def _said(self, found: Association) -> Evidence:
        figure = self._figures[int(found.cause)]
        before = f" {found.lag_s * 1e3:.0f} ms before" if found.lag_s > 0 else " with it"
        often = "under 0.1%" if found.p_fdr < 0.001 else f"{found.p_fdr:.1%}"
        chance = (
            f"as strong in {often} of shuffled runs, corrected for {len(self._figures)} figures"
        )
        said = (
            f"{figure.words} of {figure.subject} rose{before} "
            f"(correlation {found.correlation:.2f}; {chance})"
        )
        return Evidence(table=figure.table, subject=figure.subject, support=None, words=said)

    @cached_property
    def _figures(self) -> list[_Figure]:
        return [
            _Figure(table, subject, words, signal.means(self._edge_ns))
            for table, value, where, words in WATCHED
            for subject in self._signals.subjects(table, value, where)
            if (signal := self._signals.get(table, value, subject, where)) is not None
        ]


@dataclass(frozen=True)
class _Figure:
    table: str
    subject: str
    words: str
    series: Floats
