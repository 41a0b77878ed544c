"""The same trials scored with other rules: each threshold moved, each cause unknown.

A threshold whose halving and doubling changes little is no fine tuning. A cause that is not in the
catalogue is to be answered with ``unknown``, not with the nearest name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from unittest.mock import patch

from score import Score

from tierlab.diagnosis import verdicts
from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.merge import UNKNOWN
from tierlab.diagnosis.thresholds import THRESHOLDS

FACTORS = (0.5, 2.0)
MOST_WRONG = 0.1

Scored = Callable[[], Score]


def of_thresholds(scored: Scored) -> str:
    """Return the table of thresholds, each with the share of causes that were right as it is, and
    by how much it changes when the levels are halved and doubled.
    """
    usual = right(scored())
    lines = [
        f"Causes right, first answer, as the thresholds are: {usual:.3f}",
        "",
        "| figure | from | to | against | how it was found | halved | doubled |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, each in THRESHOLDS.items():
        moved = []
        for factor in FACTORS:
            with patch.dict(THRESHOLDS, {name: each.times(factor)}):
                moved.append(f"{right(scored()) - usual:+.3f}")
        words = (each.figure, f"{each.low:g}", f"{each.high:g}", each.against, each.why, *moved)
        lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines)


def right(score: Score) -> float:
    """Return the share of the disturbances whose cause was named first."""
    all_ = sum(sum(answers.values()) for answers in score.by_cause.values())
    return sum(answers[cause] for cause, answers in score.by_cause.items()) / max(1, all_)


def of_catalogue(scored: Scored, causes: Sequence[Cause] = CATALOGUE) -> str:
    """Return a table of causes: how the cases of each are answered when it is left out."""
    lines = ["| left out | cases | unknown | a wrong name | holds |", "|---|---|---|---|---|"]
    for cause in causes:
        others = tuple(each for each in CATALOGUE if each is not cause)
        with patch.object(verdicts, "CATALOGUE", others):
            answers = scored().by_cause.get(cause.name)
        if not answers:
            continue
        all_ = sum(answers.values())
        wrong = {name: count for name, count in answers.items() if name != UNKNOWN}
        share = sum(wrong.values()) / all_
        named = ", ".join(f"{count} {name}" for name, count in wrong.items()) or "none"
        holds = "yes" if share <= MOST_WRONG else "**no**"
        row = (cause.name, f"{all_}", f"{answers[UNKNOWN]}", f"{share:.2f} ({named})", holds)
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)
