"""What domains take by the word of their hypervisor, where this host's kernel cannot tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from tierlab.tables.clock import ClockReading

Rows = list[dict[str, Any]]


class Accounts(ABC):
    """One hypervisor's books."""

    subject: str
    """Whose clock they go by."""

    @abstractmethod
    def open(self) -> None:
        """Begin to keep them; `UserError` if it cannot be."""

    @abstractmethod
    def close(self) -> None:
        """Keep them no longer; what was written stays."""

    @abstractmethod
    def read_clock(self) -> ClockReading | None:
        """Read how that clock stands to this host's, None if it is the same; `UserError` if it
        does not answer.
        """

    @abstractmethod
    def tables(self) -> Mapping[str, Rows]:
        """Rows so far of each table that they fill, at that clock's times."""

    def counters(self) -> Iterator[dict[str, Any]] | None:
        """Rows of `counters`, too many to have at once, at this host's times; None where no caches
        are simulated.
        """
        return None
