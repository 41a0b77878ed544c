"""From when on a request took very long: the value of a key that is a duration or "valley"."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from tierlab.values.duration_or_word import DurationOrWord
from tierlab.values.kinds import Duration
from tierlab.values.word import Word

VALLEY = "valley"
"""The valley of the response times."""

VERY_LONG: Final = DurationOrWord(Duration("10ms", "1h"), Word((VALLEY,)))

VeryLong = Annotated[int | Literal["valley"], VERY_LONG]
"""Nanoseconds, or the word."""
