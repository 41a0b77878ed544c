"""Which stalls belong together, and which of them are the roots?

A stalled server fills the queues above it until their pools are full and they stall too, tier by
tier (the push-back wave of J. Park, "Performance Scalability of N-Tier Application in Virtualized
Cloud Environments", PhD thesis, Georgia Institute of Technology, 2016, section 4.3, figure 29), and
once it goes on, what had piled up makes shorter stalls everywhere. A root is a stall that neither
explains. Who is above whom is the graph of calls': servers of one tier are not above each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.stalls import Stall, asked_by
from tierlab.topology import Topology

ONSET_NS = 60_000_000
"""A stall below explains one above that begins at most so much earlier."""

AS_LONG = 0.5
"""Nobody waits twice as long for a server as that keeps anyone waiting."""

MEANWHILE = 0.4
"""A stall above shares so much of its time with the one below that explains it."""

AFTERMATH = 0.5
"""What piled up is worked off within this share of the stall's length ..."""

AFTERMATH_NS = 120_000_000
"""... and this time."""

MINOR = 0.3
"""Of what requests waited for the worst root: one that made them wait less is none."""

ENOUGH = 8
"""So many visits that wait may be all that a pool lets through: they explain any number above."""

SHARE = 0.25
"""Fewer explain those of a stall above if they are such a share of them."""


@dataclass(frozen=True)
class Incident:
    """Stalls that overlap or follow from one another: those that nothing else explains, and the
    others, each with what made most requests wait first.
    """

    roots: list[Stall]
    others: list[Stall]

    @property
    def start_ns(self) -> int:
        """When the first of them began."""
        return min(each.window.start_ns for each in (*self.roots, *self.others))

    @property
    def end_ns(self) -> int:
        """When the last of them was over."""
        return max(each.window.end_ns for each in (*self.roots, *self.others))


def incidents(stalls: Sequence[Stall], topology: Topology) -> list[Incident]:
    """Group the stalls; in order of time."""
    groups: list[list[Stall]] = []
    reach = 0
    for stall in sorted(stalls, key=lambda each: each.window.start_ns):
        if groups and stall.window.start_ns <= reach:
            groups[-1].append(stall)
        else:
            groups.append([stall])
            reach = 0
        reach = max(reach, stall.window.end_ns + _aftermath(stall))
    return [_incident(group, topology) for group in groups]


def _incident(group: list[Stall], topology: Topology) -> Incident:
    roots = [
        stall
        for stall, near in _with_near(group)
        if not any(other is not stall and _explains(other, stall, topology) for other in near)
    ]
    # Two that each seem to follow from the other: then the one that made most wait.
    roots = roots or _by_weight(group)[:1]
    most = max(each.total_ns for each in roots)
    roots = [each for each in roots if each.total_ns >= MINOR * most]
    chosen = {id(each) for each in roots}
    others = [each for each in group if id(each) not in chosen]
    return Incident(_by_weight(roots), _by_weight(others))


def _with_near(group: list[Stall]) -> Iterator[tuple[Stall, list[Stall]]]:
    """Give each stall, in order of time, with those that can explain it: that begin no later than
    60 ms after it and whose aftermath reaches it. An overload of an hour is one incident.
    """
    near: list[Stall] = []
    following = 0
    for stall in group:
        start_ns = stall.window.start_ns
        while following < len(group) and group[following].window.start_ns <= start_ns + ONSET_NS:
            near.append(group[following])
            following += 1
        near = [each for each in near if each.window.end_ns + _aftermath(each) >= start_ns]
        yield stall, near


def _by_weight(group: list[Stall]) -> list[Stall]:
    return sorted(group, key=lambda each: -each.total_ns)


def aftermath(stall: Stall) -> Window:
    """Return the stall's window with the time in which what piled up is worked off."""
    window = stall.window
    return Window(start_ns=window.start_ns, end_ns=window.end_ns + _aftermath(stall))


def _aftermath(stall: Stall) -> int:
    length = stall.window.end_ns - stall.window.start_ns
    return AFTERMATH_NS + int(AFTERMATH * length)


def _holds(one: Stall, other: Stall) -> bool:
    """Say whether so many waited below that those above can have waited for them."""
    return one.waiting >= min(ENOUGH, SHARE * other.waiting)


def _is_below(one: str, other: str, topology: Topology) -> bool:
    entry = asked_by(other)
    return one in topology.below(other) if entry is None else one in {entry, *topology.below(entry)}


def _explains(one: Stall, other: Stall, topology: Topology) -> bool:
    """Say whether ``other`` follows from ``one``."""
    if one.longest_ns < AS_LONG * other.longest_ns:
        return False
    a, b = one.window, other.window
    if _came_later(one, other):
        return b.start_ns <= aftermath(one).end_ns
    below = _is_below(one.server, other.server, topology) and _holds(one, other)
    overlap = min(a.end_ns, b.end_ns) - max(a.start_ns, b.start_ns)
    return (
        below
        and a.start_ns <= b.start_ns + ONSET_NS
        and overlap >= MEANWHILE * (b.end_ns - b.start_ns)
    )


def _came_later(one: Stall, other: Stall) -> bool:
    """Say whether ``other`` began when those of ``one`` went on, and was no longer."""
    went_on_ns = one.core.end_ns - ONSET_NS // 2
    return other.window.start_ns >= went_on_ns and one.longest_ns >= other.longest_ns


def is_left(one: Stall, other: Stall) -> bool:
    """Say whether ``other`` may be what had piled up during ``one``."""
    return _came_later(one, other) and other.window.start_ns <= aftermath(one).end_ns
