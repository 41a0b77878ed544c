"""The buckets in which Faban counts response times, and percentiles read off them.

After the Faban driver framework (A. Sucharitakul, Sun Microsystems, 2005-2009, class `Metrics`):
200 fine buckets up to the largest limit of any operation and 100 more up to 1.5 times of it, 69 of
ten times the width beyond, and one for the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

FINE, COARSE, RATIO = 300, 70, 10
BUCKETS = FINE + COARSE
UP_TO_LIMIT = 200


@dataclass(frozen=True)
class Percentile:
    """``upto_ns`` is where the bucket ends; None where it is the last: more than ``beyond_ns``."""

    upto_ns: int | None
    beyond_ns: int

    def within(self, limit_ns: int) -> bool:
        """Whether it keeps the limit."""
        return self.upto_ns is not None and self.upto_ns <= limit_ns


@dataclass(frozen=True)
class Buckets:
    """The buckets of operations with these limits; widths are whole nanoseconds, rounded down."""

    largest_limit_ns: int

    @property
    def fine_ns(self) -> int:
        """Width of a fine bucket."""
        return self.largest_limit_ns // UP_TO_LIMIT

    @property
    def coarse_ns(self) -> int:
        """Width of a coarse bucket."""
        return self.fine_ns * RATIO

    @property
    def fine_end_ns(self) -> int:
        """Where the fine buckets end."""
        return self.fine_ns * FINE

    @property
    def coarse_end_ns(self) -> int:
        """Where the last bucket begins."""
        return self.fine_end_ns + self.coarse_ns * (COARSE - 1)

    def sql(self, time_ns: str) -> str:
        """Return the bucket of a time, which is not negative, as SQL."""
        return (
            f"CASE WHEN {time_ns} < {self.fine_end_ns} THEN {time_ns} // {self.fine_ns}"
            f" WHEN {time_ns} < {self.coarse_end_ns}"
            f" THEN ({time_ns} - {self.fine_end_ns}) // {self.coarse_ns} + {FINE}"
            f" ELSE {BUCKETS - 1} END"
        )

    def percentile(self, counts: Sequence[int], share: float) -> Percentile:
        """Return the end of the first bucket up to which there are ``share`` of the times, rounded
        down to whole ones, as Faban does; ``counts`` has all buckets, and some time is in them.
        """
        wanted, upto = int(sum(counts) * share), 0
        for bucket, count in enumerate(counts):
            upto += count
            if upto >= wanted:
                return Percentile(self._end_ns(bucket), self.coarse_end_ns)
        raise AssertionError("the shares of all buckets are the whole")

    def _end_ns(self, bucket: int) -> int | None:
        after = bucket + 1
        if after < FINE:
            return after * self.fine_ns
        if after < BUCKETS:
            return self.fine_end_ns + (after - FINE) * self.coarse_ns
        return None
