"""A neighbour: a domain beside the system's own whose virtual CPUs always compute."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass


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


@dataclass(frozen=True)
class Turn:
    """A stretch of time in which a neighbour computes: UTC nanoseconds by this host's clock."""

    start_ns: int
    end_ns: int
    weight: int
    """What it weighs meanwhile, where 1024 is the usual."""


class TimedNeighbour(Neighbour):
    """A neighbour that rests, and computes with all its virtual CPUs at stated times."""

    @abstractmethod
    def rest(self) -> None:
        """Have it rest, ready for its turns; it computes now."""

    @abstractmethod
    def take(self, turns: Sequence[Turn]) -> None:
        """Have it compute in these turns, in order of time; return at once."""

    @abstractmethod
    def taken(self) -> list[Turn]:
        """Those of them that are over, each with the times when it really was."""
