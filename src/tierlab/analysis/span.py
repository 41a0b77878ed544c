"""Stretches of a run and the windows that divide them."""

from dataclasses import dataclass

WINDOW_NS = 50_000_000
"""Default window: 50 ms, the scale at which very short bottlenecks show."""


@dataclass(frozen=True)
class Span:
    """From ``start_ns`` up to, not including, ``end_ns`` (UTC nanoseconds)."""

    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        """Length in nanoseconds."""
        return self.end_ns - self.start_ns

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.duration_ns / 1e9

    def windows(self, width_ns: int = WINDOW_NS) -> int:
        """Return how many windows of that width begin in the span; the last may be cut short."""
        return -(-self.duration_ns // width_ns)
