"""What the catalogue holds: a root-cause class with its signature, words and remedies."""

from collections.abc import Callable
from dataclasses import dataclass

from tierlab.diagnosis.finding import Remedy, Suspect
from tierlab.diagnosis.stall_context import StallContext


@dataclass(frozen=True)
class Leading:
    """A sampled figure of the suspected server: high, or ``low``, where the cause is at work."""

    table: str
    value: str
    where: str = "true"
    low: bool = False

    def rarity(self, context: StallContext) -> float | None:
        """Return the share of equally long windows of the run in which it was as strong."""
        signal = context.signal(self.table, self.value, self.where)
        return None if signal is None else signal.as_strong(context.window, low=self.low)


@dataclass(frozen=True)
class Cause:
    """A root-cause class.

    ``judge`` returns None where the cause cannot apply to the server at all. ``leading`` is the
    figure that shows it best; None where that is no sampled one. ``happened`` says in
    words what happened, to follow the server's name ("was stopped"). ``explains`` names the causes
    whose evidence this one brings about by itself. Beside another cause it is named only where it
    ``stands_alone``: where a stall elsewhere cannot have brought about its evidence. A cause that
    comes ``by_chance`` as well is told of only where it does not, from stalls that stand out.
    """

    name: str
    title: str
    judge: Callable[[StallContext], Suspect | None]
    happened: Callable[[StallContext], str]
    remedies: Callable[[StallContext], list[Remedy]]
    leading: Leading | None
    stands_alone: Callable[[StallContext], bool] = lambda _context: True
    explains: frozenset[str] = frozenset()
    by_chance: Callable[[StallContext], bool] | None = None
