"""Which stalls of an incident are told of, each with its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.diagnosis.backlog import FOLLOWING
from tierlab.diagnosis.causes import overload
from tierlab.diagnosis.held_up import held_up
from tierlab.diagnosis.incidents import ONSET_NS, Incident, is_left
from tierlab.diagnosis.merge import Occurrence
from tierlab.diagnosis.run_context import RunContext
from tierlab.diagnosis.stalls import Stall, stands_out
from tierlab.diagnosis.verdicts import judge

CLEAR = 0.6
"""How strong evidence for a second cause must be: beside a stall elsewhere it may be an echo."""

HELD_UP = 0.6
"""How surely a server's calls take longer than usual before who is called is judged, too."""

MOST_EXAMINED = 40
"""Of the stalls that follow from others, those that made most requests wait are looked into: an
overload that lasts has thousands."""


@dataclass(frozen=True)
class Attribution:
    """Finds the causes of a run's stalls; with ``anywhere`` any server may be to blame for each."""

    run: RunContext
    coverage: float
    anywhere: bool

    def occurrences(self, incident: Incident) -> list[Occurrence]:
        """Return the roots whose cause is known, and second causes that were at work at once.

        Where no root's is known, the first of the other stalls whose cause is, that began with
        them, that a stall elsewhere cannot have brought about, and that is not what piled up in one
        without a known cause: the order of onsets can be misread, but what began later, or only
        fills a pool, may be the work of a cause outside the catalogue. Where there is none either,
        the roots that stand out, without a cause; and so they are beside a surge or an overload
        that began later, as both may follow from them.
        """
        roots = [self.attribute(root) for root in incident.roots]
        others = [self.attribute(stall) for stall in incident.others[:MOST_EXAMINED]]
        known = [each for each in roots if _is_known(each)]
        if not known:
            own = [each for each in others if _is_own(each) and _with(each, roots)]
            known = [each for each in own if not _is_left(each, [*roots, *others])][:1]
        nameless = [each for each in roots if _is_nameless(each)]
        if not known:
            return nameless
        second = [each for each in others if _is_second(each, known)]
        before = [each for each in nameless if all(_may_follow(one, each) for one in known)]
        return _unexplained([*known, *second, *before])

    def attribute(self, stall: Stall) -> Occurrence:
        """Return the stall with its verdict. Where the stalled server is held up by its calls, who
        is called may be to blame: of many short visits none need be a stall of its own.
        """
        contexts = self.run.contexts(stall, anywhere=self.anywhere)
        if not self.anywhere and any((held_up(each) or 0.0) >= HELD_UP for each in contexts):
            contexts = [*contexts, *self.run.contexts_below(stall)]
        return Occurrence(stall, judge(contexts, self.coverage))


def _with(occurrence: Occurrence, roots: list[Occurrence]) -> bool:
    first_ns = min(each.stall.window.start_ns for each in roots)
    return occurrence.stall.window.start_ns <= first_ns + ONSET_NS


def _is_left(occurrence: Occurrence, beside: Sequence[Occurrence]) -> bool:
    """Say whether it may be what piled up during a wait whose cause is not known."""
    return any(
        each.verdict.winner is None and is_left(each.stall, occurrence.stall) for each in beside
    )


def _is_nameless(occurrence: Occurrence) -> bool:
    return occurrence.verdict.winner is None and stands_out(occurrence.stall)


def _may_follow(one: Occurrence, other: Occurrence) -> bool:
    return one.cause in FOLLOWING and other.stall.window.start_ns < one.stall.window.start_ns


def _is_known(occurrence: Occurrence) -> bool:
    """Say whether it has a cause, and did not come by chance."""
    winner = occurrence.verdict.winner
    if winner is None or winner.cause.by_chance is None:
        return winner is not None
    return stands_out(occurrence.stall) and not came_by_chance(occurrence)


def came_by_chance(occurrence: Occurrence) -> bool:
    """Say whether chance brings what it was told as, at this load."""
    winner = occurrence.verdict.winner
    if winner is None or winner.cause.by_chance is None:
        return False
    return winner.cause.by_chance(winner.context)


def _is_own(occurrence: Occurrence) -> bool:
    """Say whether its cause is known, and no stall elsewhere can have brought it about."""
    winner = occurrence.verdict.winner
    return (
        winner is not None and _is_known(occurrence) and winner.cause.stands_alone(winner.context)
    )


def _is_second(occurrence: Occurrence, known: list[Occurrence]) -> bool:
    """Say whether it is a cause of its own beside those known, and clearly shown."""
    winner = occurrence.verdict.winner
    if winner is None or occurrence.verdict.strength < CLEAR:
        return False
    if not winner.cause.stands_alone(winner.context):
        return False
    here = [each.cause for each in known if each.subject == occurrence.subject]
    return winner.cause.name not in here


def _unexplained(found: list[Occurrence]) -> list[Occurrence]:
    """Leave out what another cause, found at the same server at the same time, brings about; what
    began before an overload is not its doing, but may have left it.
    """
    return [each for each in found if not any(_explains(other, each) for other in found)]


def _explains(one: Occurrence, other: Occurrence) -> bool:
    winner, a, b = one.verdict.winner, one.stall.window, other.stall.window
    return (
        winner is not None
        and one.subject == other.subject
        and other.cause in winner.cause.explains
        and (one.cause != overload.NAME or a.start_ns <= b.start_ns + ONSET_NS)
        and a.start_ns < b.end_ns
        and b.start_ns < a.end_ns
    )
