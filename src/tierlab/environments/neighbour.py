"""A neighbour: a domain beside the system's own whose virtual CPUs always compute."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Neighbour(ABC):
    """The first so many of its virtual CPUs compute, at first all, and the others rest."""

    name: str

    @abstractmethod
    def boot(self) -> None:
        """Begin what takes long of `start`, which then goes on from there; return at once."""

    @abstractmethod
    def start(self) -> None:
        """Make it, in its place."""

    @abstractmethod
    def compute(self) -> None:
        """Let all its virtual CPUs compute."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether all compute where they belong."""

    @abstractmethod
    def occupy(self, vcpus: int) -> None:
        """Have the first so many compute and the others rest."""

    @abstractmethod
    def busy(self) -> int:
        """Read back how many compute."""

    @abstractmethod
    def check(self) -> None:
        """Raise `UserError` if one that is to compute has ended, or if one is not in its place."""

    @abstractmethod
    def destroy(self) -> None:
        """End it, and remove all that `start` made; callable at any time."""
