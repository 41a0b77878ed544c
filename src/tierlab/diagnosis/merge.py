"""One finding for a bottleneck that came back: occurrences of one cause at one server, joined."""

from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.stalls import USERS, Stall, asked_by
from tierlab.diagnosis.verdicts import Verdict

UNKNOWN = "unknown"

EVEN = 0.5
"""What a wait without a known cause weighs: it was there, whatever made it."""


@dataclass(frozen=True)
class Occurrence:
    """One stall, and what was judged of it."""

    stall: Stall
    verdict: Verdict

    @property
    def cause(self) -> str:
        """The winner's name, or ``unknown``."""
        return UNKNOWN if self.verdict.winner is None else self.verdict.winner.cause.name

    @property
    def subject(self) -> str:
        """The server to blame: the winner's, else the one that stalled."""
        winner = self.verdict.winner
        return self.stall.server if winner is None else winner.suspect.subject


@dataclass(frozen=True)
class Merged:
    """Occurrences of one cause at one server, in order of time."""

    cause: Cause | None
    subject: str
    occurrences: list[Occurrence]

    @property
    def windows(self) -> list[Window]:
        """When: stalls of it that overlap are one, however many ways they were seen."""
        joined: list[Window] = []
        for window in (each.stall.window for each in self.occurrences):
            if joined and window.start_ns <= joined[-1].end_ns:
                end_ns = max(window.end_ns, joined[-1].end_ns)
                joined[-1] = Window(start_ns=joined[-1].start_ns, end_ns=end_ns)
            else:
                joined.append(window)
        return joined

    @property
    def clearest(self) -> Occurrence:
        """The occurrence with the strongest case, the longest of equals."""
        return max(self.occurrences, key=lambda each: (each.verdict.strength, each.stall.total_ns))


def merged(occurrences: Sequence[Occurrence], entry: str) -> list[Merged]:
    """Join them; what most surely made requests wait the most comes first: an echo that is hardly
    believed stands behind what it echoes. Who kept users waiting without a
    cause is the server that they ask; ``entry`` is, where messages were not captured.
    """
    groups: dict[tuple[str, str], list[Occurrence]] = {}
    for each in occurrences:
        here = entry if each.subject == USERS else each.subject
        subject = asked_by(here) or here
        groups.setdefault((each.cause, subject), []).append(each)
    found = [
        Merged(_cause(group), subject, sorted(group, key=lambda each: each.stall.window.start_ns))
        for (_, subject), group in groups.items()
    ]
    return sorted(found, key=weight, reverse=True)


def weight(each: Merged) -> float:
    """Return how long requests waited by it, all together, by how sure it is."""
    return sum(one.stall.total_ns * (one.verdict.strength or EVEN) for one in each.occurrences)


def _cause(group: list[Occurrence]) -> Cause | None:
    winner = group[0].verdict.winner
    return None if winner is None else winner.cause
