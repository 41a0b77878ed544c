"""What is found in a compose file besides servers: mistakes, and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tierlab.errors import UserError


@dataclass
class Findings:
    """Of one file."""

    file: Path
    mistakes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def wrong(self, key: str, text: str) -> None:
        """A sentence about a key, which may come up twice but is said once."""
        said = f"{key} {text}"
        if said not in self.mistakes:
            self.mistakes.append(said)

    def note(self, text: str) -> None:
        """What is assumed, or left out without an effect."""
        if text not in self.notes:
            self.notes.append(text)

    def settle(self) -> None:
        """Raise `UserError` with all that is wrong."""
        if len(self.mistakes) == 1:
            raise UserError(f"{self.file}: {self.mistakes[0]}.")
        if self.mistakes:
            lines = (f"{each}." for each in self.mistakes)
            raise UserError("\n  ".join([f"{self.file}: {len(self.mistakes)} mistakes:", *lines]))
