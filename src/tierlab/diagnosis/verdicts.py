"""Which cause, and how sure? The strongest case wins, less what the others leave open."""

from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.finding import Suspect
from tierlab.diagnosis.stall_context import StallContext

SHOWN = 0.35
"""A cause with less support is not named."""

SURE = 0.97
"""Evidence of all sources that leaves no doubt is still no proof."""

RIVAL = 0.5
"""How much of the strength an equally possible other cause takes away."""

UNSEEN = 0.2
"""How much of it is taken away where no source was there."""

EVEN = 0.05
"""Supports that differ by less are equal: then what brings the other about comes first."""


@dataclass(frozen=True)
class Assessment:
    """What speaks for a cause in one context."""

    cause: Cause
    context: StallContext
    suspect: Suspect


@dataclass(frozen=True)
class Verdict:
    """The winner (None: none is shown), the strength (0..1) of what speaks for it, and the others,
    most possible first.
    """

    winner: Assessment | None
    strength: float
    others: list[Assessment]


def judge(contexts: Sequence[StallContext], coverage: float) -> Verdict:
    """Judge every cause in every context. ``coverage`` is the share of all sources that there are.

    strength = 0.97 x least support x (1 - rival's most / 2) x (0.8 + 0.2 coverage): taking a
    source away that spoke for the winner lowers the first, raises the second and lowers the third.
    """
    cases = [
        Assessment(cause, context, suspect)
        for context in contexts
        for cause in CATALOGUE
        if (suspect := cause.judge(context)) is not None
    ]
    cases.sort(key=lambda each: (-each.suspect.least, -each.suspect.most))
    if not cases or cases[0].suspect.least < SHOWN:
        cases.sort(key=lambda each: -each.suspect.most)
        return Verdict(None, 0.0, cases)
    winner = _first(cases)
    others = [each for each in cases if each is not winner]
    rivals = [
        each.suspect.most
        for each in others
        if each.cause.name not in winner.cause.explains and each.cause is not winner.cause
    ]
    doubt = RIVAL * max(rivals, default=0.0)
    strength = SURE * winner.suspect.least * (1 - doubt) * (1 - UNSEEN * (1 - coverage))
    others.sort(key=lambda each: -each.suspect.most)
    return Verdict(winner, strength, others)


def _first(cases: Sequence[Assessment]) -> Assessment:
    """Return the case with the most support; of equals at one server the one that brings the others
    about: where work takes longer than usual, locks are held for longer, too.
    """
    best = cases[0]
    even = [each for each in cases if each.suspect.least >= best.suspect.least - EVEN]
    here = [each for each in even if each.context is best.context]
    return next((each for each in here if best.cause.name in each.cause.explains), best)
