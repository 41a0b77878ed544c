"""From perf's records to rows of `counters` and `stacks`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tierlab.errors import UserError
from tierlab.exchange.perf_frame import Frame
from tierlab.exchange.perf_script import Clock, Damage, Fork, Lost, Record, Sample, Unread
from tierlab.exchange.perf_unread import NotUnderstood

HOST = "host"
"""The domain of processes that are no server's."""
IDLE = "idle"
"""The domain of a PU's time in which nobody wanted it, which clocks sample too."""

SOFTWARE = frozenset(
    {
        *("alignment-faults", "bpf-output", "cgroup-switches", "context-switches", "cs"),
        *("cpu-clock", "cpu-migrations", "migrations", "dummy", "emulation-faults", "faults"),
        *("major-faults", "minor-faults", "page-faults", "task-clock"),
    }
)
"""Events that the kernel counts (perf-list(1))."""

_MODIFIER = re.compile(r"[ukhpGHPSDIWeb]*")
_BY_CORE = re.compile(r"cpu(?:_core|_atom)?/([^/,=]+)/")
_IDLE_FUNCTION = re.compile(
    r"(?:.*_)?(?:idle|halt|mwait)(?:_.*)?|cpuidle_.*|cpu_startup_entry"
    r"|acpi_processor_ffh_cstate_enter"
)
_IDLE_LOOP = "do_idle"
MOST_STEPS_BACK = 0.25
"""Share of the samples that may be earlier than the one before; `perf script` sorts them."""


def source_of(event: str) -> str:
    """Who counts an event of this name: `software`, the kernel, or `pmu`."""
    name = event.partition(":")[0]
    return "software" if name in SOFTWARE or _is_tracepoint(event) else "pmu"


def name_of(event: str) -> str:
    """An event's own name: without what perf adds (`cycles:P`), and without the kind of core that
    counted it (`cpu_core/cycles/`). A tracepoint's is as it was.
    """
    if _is_tracepoint(event):
        return event
    by_core = _BY_CORE.match(event)
    return event.partition(":")[0] if by_core is None else by_core[1]


def _is_tracepoint(event: str) -> bool:
    # What is no modifier is the name of a tracepoint (`sched:sched_switch`).
    return not _MODIFIER.fullmatch(event.partition(":")[2])


def _is_idle(frames: Sequence[Frame]) -> bool:
    """Whether the idle thread had nothing to do there."""
    if not frames:
        return False
    function = frames[0].symbol
    if function is None:
        # Where it waits may have no name, as a hypervisor's code has none.
        return any(frame.symbol == _IDLE_LOOP for frame in frames)
    return _IDLE_FUNCTION.fullmatch(function) is not None


class PerfRows:
    """Makes the rows. After them `stacks` are those that they have, by frames, `samples` says how
    many there are, `lost` how many events perf had no room for, and `not_understood` what else is
    missing.
    """

    def __init__(
        self,
        owners: Mapping[int, str],
        others: str = HOST,
        *,
        first_ns: int | None = None,
        first_stack: int = 0,
    ) -> None:
        """`owners`: domains by process, as they are at first; of those that are no such process's,
        nor started by one, the domain is `others`. `first_ns`: when the first sample was taken,
        whatever the recording's own clock says. Stacks are numbered from `first_stack` on.
        """
        self.stacks: dict[tuple[str, ...], int] = {}
        self.lost = self.samples = 0
        self.not_understood = NotUnderstood()
        self.overruled_ns: int | None = None
        """When the first sample was taken by the recording's own clock, if `first_ns` says it."""
        self._owners, self._others = dict(owners), others
        self._first_ns, self._first_stack = first_ns, first_stack
        self._clock_ns: int | None = None
        self._offset_ns: int | None = None
        self._last_ns = self._steps_back = 0

    def counters(self, records: Iterable[Record], recording: str) -> Iterator[dict[str, Any]]:
        """A row for each sample.

        Raises :class:`UserError` when the `recording` does not tell the time of day, when its times
        are no times, or when too much of it is not understood.
        """
        for record in records:
            match record:
                case Clock():
                    self._clock_ns = record.offset_ns
                case Fork():
                    self._inherit(record)
                case Lost():
                    self.lost += record.count
                case Sample():
                    yield self._row(record, recording)
                case Unread() | Damage():
                    self.not_understood.add(record)
        self.not_understood.check(recording, self.samples)
        if self._steps_back > MOST_STEPS_BACK * self.samples:
            raise UserError(
                f"{recording} has times that run backwards at {self._steps_back} of its"
                f" {self.samples} samples: print it without `--deltatime`."
            )

    def stack_rows(self) -> Iterator[dict[str, Any]]:
        """A row for each stack so far."""
        for frames, number in self.stacks.items():
            yield {"stack": number, "frames": frames}

    def _inherit(self, fork: Fork) -> None:
        """A number that a server's process had may be another's by now."""
        if fork.t_ns == 0 or fork.child == fork.parent:
            return  # it was there before, or is a thread
        owner = self._owners.get(fork.parent)
        if owner is None:
            self._owners.pop(fork.child, None)
        else:
            self._owners[fork.child] = owner

    def _row(self, sample: Sample, recording: str) -> dict[str, Any]:
        inner = sample.frames[0] if sample.frames else None
        self.samples += 1
        self._steps_back += sample.t_ns < self._last_ns
        self._last_ns = sample.t_ns
        return {
            "t_ns": self._time(sample, recording),
            "dt_ns": 0,
            "cpu": sample.cpu,
            "domain": self._domain(sample),
            "binary": inner.binary if inner else None,
            "symbol": inner.symbol if inner else None,
            "event": name_of(sample.event),
            "count": sample.period,
            "source": source_of(sample.event),
            "period": sample.period,
            "stack": self._stack(sample),
        }

    def _time(self, sample: Sample, recording: str) -> int:
        if self._first_ns is None:
            if self._clock_ns is None:
                raise UserError(
                    f"{recording} does not tell the time of day: record with `-k CLOCK_MONOTONIC`"
                    " (and print with `perf script --header`), or say with --first-at when its"
                    " first sample was taken."
                )
            return sample.t_ns + self._clock_ns
        if self._offset_ns is None:
            self._offset_ns = self._first_ns - sample.t_ns
            self.overruled_ns = None if self._clock_ns is None else sample.t_ns + self._clock_ns
        return sample.t_ns + self._offset_ns

    def _domain(self, sample: Sample) -> str:
        if sample.machine is not None:
            return self._owners.get(sample.machine, f"guest {sample.machine}")
        if sample.pid == 0 and _is_idle(sample.frames):
            return IDLE
        return self._owners.get(sample.pid, self._others)

    def _stack(self, sample: Sample) -> int | None:
        if len(sample.frames) < 2:
            return None
        frames = tuple(map(str, reversed(sample.frames)))
        return self.stacks.setdefault(frames, self._first_stack + len(self.stacks))
