"""What domains take by the word of a hypervisor of their own: this host's kernel cannot tell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from tierlab.tables.clock import ClockReading


class Accounts(ABC):
    """One hypervisor's books."""

    subject: str
    """Whose clock they go by, which may differ from this host's."""

    @abstractmethod
    def open(self) -> None:
        """Begin to keep them; `UserError` if it cannot be."""

    @abstractmethod
    def read_clock(self) -> ClockReading:
        """Read how that clock stands to this host's; `UserError` if it does not answer."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table `domain` so far, at that clock's times."""
