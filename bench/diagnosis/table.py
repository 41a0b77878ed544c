"""The table of a proof, in Markdown, with the bars of each row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from score import Score

SIZES = ("from 100 ms", "50-100 ms")
FAMILY = ("cpu", "overload", "quota", "steal", "weight")
"""Causes of waiting for a CPU, which are to be told apart."""

MOST_FAILED = 0.1
LEAST_COUNTED = 0.5
"""A share of few of the pairs that were drawn would say little of the others."""

BARS = {"from 100 ms": 0.95, "50-100 ms": 0.85}


@dataclass(frozen=True)
class Row:
    """A figure with its counts, and whether it reaches its bar; None where there was nothing to
    count, which is well only where no trial was planned that counts for it.
    """

    what: str
    figure: str
    bar: str
    holds: bool | None

    def __str__(self) -> str:
        said = {True: "yes", False: "**no**", None: "**nothing to count**"}[self.holds]
        return f"| {self.what} | {self.figure} | {self.bar} | {said} |"


def rows(score: Score) -> list[Row]:
    """Return every row of the table: of each kind of trial that was planned all of its rows."""
    found = _singles(score) if score.planned["single"] else []
    if score.planned["single"] or score.planned["overload"]:
        found += _causes(score)
    if score.planned["single"] or score.planned["pair"]:
        found.append(_share("causes named that were there", score.named_right, score.named, 0.9))
    if score.planned["control"]:
        found.append(_control(score))
    if score.planned["pair"]:
        found += _pairs(score)
    return found + [_failed(score, kind) for kind in score.planned]


def holds(score: Score) -> bool:
    """Say whether every row reaches its bar; one without anything to count shows nothing."""
    return all(row.holds is True for row in rows(score))


def _singles(score: Score) -> list[Row]:
    found = []
    for size in SIZES:
        bar = BARS[size]
        found.append(_share(f"recall, {size}", score.recalled[size], score.true[size], bar))
        found.append(_share(f"precision, {size}", score.founded[size], score.windows[size], bar))
    judged = sum(score.recalled.values())
    found.append(_share("tier, first answer", score.tier_right, judged, 0.95))
    return [*found, _onset(score)]


def _onset(score: Score) -> Row:
    what, bar = "onset, median error", "at most 50 ms"
    if not score.onset_ns:
        return Row(what, "-", bar, None)
    median = float(np.median(score.onset_ns)) / 1e6
    worst = float(np.quantile(score.onset_ns, 0.9)) / 1e6
    return Row(what, f"{median:.0f} ms (90 %: {worst:.0f} ms)", bar, median <= 50)


def _control(score: Score) -> Row:
    what, bar = "false findings, undisturbed", "at most 0.05"
    if not score.control_s:
        return Row(what, "-", bar, None)
    false = [each for name, each in score.false if name.startswith("control")]
    rate = len(false) / (score.control_s / 60)
    figure = f"{rate:.2f} a minute ({len(false)} in {score.control_s / 60:.0f} min)"
    return Row(what, figure, bar, rate <= 0.05)


def _pairs(score: Score) -> list[Row]:
    """Both named, and how many pairs count. Which do is read from visits and counters that the
    diagnosis sees as well, so the figure of all with late requests stands beside it.
    """
    both = _share("two at once, both named", score.pairs_named, score.pairs, 0.8)
    late = f"; {score.pairs_late_named} of all {score.pairs_late} with late requests during each"
    count = _share(
        "pairs that count, of those drawn", score.pairs, score.pairs_drawn, LEAST_COUNTED
    )
    alone = f"; in {score.pairs_alone} only one of the two held any request"
    return [
        Row(both.what, both.figure + late, both.bar, both.holds),
        Row(count.what, count.figure + alone, count.bar, count.holds),
    ]


def _failed(score: Score, kind: str) -> Row:
    """Trials that gave nothing to score are no reason to repeat the others, but few may fail."""
    failed, planned = score.failed_kinds[kind], score.planned[kind]
    names = ", ".join(name for name in score.failed if name.startswith(f"{kind}-"))
    return Row(
        f"{kind} trials that failed",
        f"{failed} of {planned}" + (f" ({names}: see the log)" if names else ""),
        "at most 1 in 10",
        failed <= MOST_FAILED * planned,
    )


def _causes(score: Score) -> list[Row]:
    total: Counter[bool] = Counter()
    found = []
    for cause, answers in sorted(score.by_cause.items()):
        right, all_ = answers[cause], sum(answers.values())
        total[True] += right
        total[False] += all_ - right
        others = ", ".join(f"{n} {what}" for what, n in answers.most_common() if what != cause)
        row = _share(f"cause {cause}", right, all_, 0.8)
        said = f"{row.figure}; else {others}" if others else row.figure
        found.append(Row(row.what, said, row.bar, row.holds))
    row = _share("cause, first answer", total[True], sum(total.values()), 0.9)
    members = {cause: each for cause, each in score.by_cause.items() if cause in FAMILY}
    told = sum(answers[cause] for cause, answers in members.items())
    among = sum(sum(answers.values()) for answers in members.values())
    return [row, *found, _share("the CPU family told apart", told, among, 0.85)]


def _share(what: str, count: int, of: int, bar: float) -> Row:
    if not of:
        return Row(what, "-", f"at least {bar}", None)
    return Row(what, f"{count / of:.2f} ({count} of {of})", f"at least {bar}", count / of >= bar)


def markdown(score: Score) -> str:
    """Return the table."""
    head = ["| what | reached | bar | holds |", "|---|---|---|---|"]
    return "\n".join([*head, *(str(row) for row in rows(score))])
