"""Whether the times of an imported profile are those of the run that it is imported into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tierlab.tables.manifest import Phase

_RUNTIME = "runtime"


class Fit:
    """Watches rows go by. Afterwards, `in_run` and `in_runtime` say how many of them lie there."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        """Of a run without phases it is not known when it ran: all rows fit."""
        self.rows = self.in_run = self.in_runtime = 0
        self._times: tuple[int, int] | None = None
        self._phases = [(phase.start_ns, phase.end_ns) for phase in phases]
        self._runtime = [(p.start_ns, p.end_ns) for p in phases if p.name == _RUNTIME]

    def watched(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Return the rows as they are."""
        run = _whole(self._phases)
        runtime = _whole(self._runtime)
        for row in rows:
            at = row["t_ns"]
            first, last = self._times or (at, at)
            self._times = min(first, at), max(last, at)
            self.rows += 1
            self.in_run += run is None or run[0] <= at < run[1]
            self.in_runtime += runtime is None or runtime[0] <= at < runtime[1]
            yield row

    def note(self, recording: str) -> str | None:
        """Return a sentence if rows lie outside of the runtime; None if none does.

        Only rows of the runtime are shown, so a sentence about all of them has both spans.
        """
        if self.in_runtime == self.rows:
            return None
        if self.in_runtime:
            return (
                f"{recording}: {self.rows - self.in_runtime} of its {self.rows} samples lie outside"
                " of the runtime, and `tierlab profile` and the report do not show them:"
                f" {self._spans('had its runtime', self._runtime)}"
            )
        where = "the runtime" if self.in_run else "the run"
        verb, phases = ("had its runtime", self._runtime) if self.in_run else ("ran", self._phases)
        return (
            f"{recording}: none of its {self.rows} samples lies in {where}, so `tierlab profile`"
            f" and the report show none of them: {self._spans(verb, phases)} Name the run during"
            " which it was recorded, or say with --first-at when its first sample was taken (UTC)."
        )

    def _spans(self, verb: str, phases: Sequence[tuple[int, int]]) -> str:
        recorded, ran = self._times, _whole(phases)
        if recorded is None or ran is None:
            return "the run has no such time."
        return f"it was recorded {_span(recorded)}, and the run {verb} {_span(ran)}."


def _whole(phases: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    if not phases:
        return None
    return min(start for start, _ in phases), max(end for _, end in phases)


def _span(times: tuple[int, int]) -> str:
    first, last = map(instant, times)
    return f"from {first} to {last} UTC"


def instant(ns: int) -> str:
    """Return a time as --first-at takes it, to the millisecond."""
    whole = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ns // 1000)
    return whole.replace(tzinfo=None).isoformat(timespec="milliseconds")
