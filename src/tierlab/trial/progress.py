"""What a trial tells whoever watches it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Shows how far a trial is. Implemented by the command line; tests use :class:`Silent`."""

    def stage(self, name: str, seconds: float | None = None) -> None:
        """Begin a stage; ``seconds`` is how long it will take, where that is known."""

    def advance(self, elapsed: float, note: str = "") -> None:
        """Say how many seconds of the stage are over and what is going on."""


class Silent:
    """Shows nothing."""

    def stage(self, name: str, seconds: float | None = None) -> None:
        """Begin a stage."""

    def advance(self, elapsed: float, note: str = "") -> None:
        """Say how far it is."""
