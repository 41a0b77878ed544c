"""The same trials scored with other rules: each threshold moved, each cause unknown.

A threshold whose halving and doubling changes little is no fine tuning. A cause that is not in the
catalogue is to be answered with ``unknown``, not with the nearest name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from unittest.mock import patch

from constants import Constant, constants
from score import Score

from tierlab.diagnosis import verdicts
from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.merge import UNKNOWN
from tierlab.diagnosis.thresholds import THRESHOLDS

FACTORS = (0.5, 2.0)
MOST_WRONG = 0.1

Rules = Callable[[], AbstractContextManager[object]]
"""Gives the context within which other rules are in force."""

Scored = Callable[[Sequence[Rules]], Sequence[Score]]
"""Scores the same trials by each of the rules."""


def of_thresholds(scored: Scored) -> str:
    """Return the table of thresholds, each with the share of causes that were right as it is, and
    by how much it changes when the levels are halved and doubled.
    """
    moves = [(name, factor) for name in THRESHOLDS for factor in FACTORS]
    usual, *others = map(right, scored([nullcontext, *(_moved(*each) for each in moves)]))
    changed = {each: f"{share - usual:+.3f}" for each, share in zip(moves, others, strict=True)}
    lines = [
        f"Causes right, first answer, as the thresholds are: {usual:.3f}",
        "",
        "| figure | from | to | against | how it was found | halved | doubled |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, each in THRESHOLDS.items():
        moved = [changed[name, factor] for factor in FACTORS]
        words = (each.figure, f"{each.low:g}", f"{each.high:g}", each.against, each.why, *moved)
        lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines)


def _moved(name: str, factor: float) -> Rules:
    return lambda: patch.dict(THRESHOLDS, {name: THRESHOLDS[name].times(factor)})


def of_constants(scored: Scored, moved: Sequence[Constant] | None = None) -> str:
    """Return the same table of the numbers that stand beside the rules; all, unless some are given.
    They decide what is read of a run, too, so that every run is read anew for each.
    """
    chosen = constants() if moved is None else moved
    usual = _right_by(scored, nullcontext)
    lines = [
        f"Causes right, first answer, as the numbers are: {usual:.3f}",
        "",
        "| number | is | what it is for | halved | doubled |",
        "|---|---|---|---|---|",
    ]
    for each in chosen:
        changed = [f"{_right_by(scored, each.times(f)) - usual:+.3f}" for f in FACTORS]
        lines.append(f"| {' | '.join([f'`{each.place}`', each.words, each.why, *changed])} |")
    return "\n".join(lines)


def _right_by(scored: Scored, rules: Rules) -> float:
    with rules():
        (score,) = scored([nullcontext])
    return right(score)


def right(score: Score) -> float:
    """Return the share of the disturbances whose cause was named first, of those that were missed
    too: a level that hides a disturbance would else change nothing.
    """
    all_ = sum(sum(answers.values()) for answers in score.by_cause.values()) + len(score.missed)
    return sum(answers[cause] for cause, answers in score.by_cause.items()) / max(1, all_)


def of_catalogue(scored: Scored, causes: Sequence[Cause] = CATALOGUE) -> str:
    """Return a table of causes: how the cases of each are answered when it is left out; in its last
    row all of them together. Those of which nothing was told are no cases, and counted beside them.
    """
    lines = [
        "| left out | cases | unknown | a wrong name | holds | not told of |",
        "|---|---|---|---|---|---|",
    ]
    total: Counter[str] = Counter()
    untold = 0
    for cause, score in zip(causes, scored([_without(each) for each in causes]), strict=True):
        answers = score.by_cause.get(cause.name, Counter())
        missed = sum(true.cause == cause.name for _, true in score.missed)
        if answers or missed:
            lines.append(_row(cause.name, answers, missed))
        total += answers
        untold += missed
    return "\n".join([*lines, _row("all of them", total, untold)])


def _without(cause: Cause) -> Rules:
    others = tuple(each for each in CATALOGUE if each is not cause)
    return lambda: patch.object(verdicts, "CATALOGUE", others)


def _row(name: str, answers: Counter[str], missed: int) -> str:
    all_ = answers.total()
    wrong = {name: count for name, count in answers.most_common() if name != UNKNOWN}
    share = sum(wrong.values()) / max(1, all_)
    named = ", ".join(f"{count} {name}" for name, count in wrong.items()) or "none"
    holds = "yes" if share <= MOST_WRONG else "**no**"
    return f"| {name} | {all_} | {answers[UNKNOWN]} | {share:.2f} ({named}) | {holds} | {missed} |"
