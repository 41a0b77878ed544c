"""The table of a proof, in Markdown, with the bars of each row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from score import Score

SIZES = ("from 100 ms", "50-100 ms")
MOST_FAILED = 0.1
BARS = {"from 100 ms": 0.95, "50-100 ms": 0.85}


@dataclass(frozen=True)
class Row:
    """A figure with its counts, and whether it reaches its bar; None where there was nothing."""

    what: str
    figure: str
    bar: str
    holds: bool | None

    def __str__(self) -> str:
        said = {True: "yes", False: "**no**", None: "nothing to count"}[self.holds]
        return f"| {self.what} | {self.figure} | {self.bar} | {said} |"


def rows(score: Score) -> list[Row]:
    """Return every row of the table."""
    found = []
    for size in SIZES:
        bar = BARS[size]
        found.append(_share(f"recall, {size}", score.recalled[size], score.true[size], bar))
        found.append(_share(f"precision, {size}", score.founded[size], score.windows[size], bar))
    found += _causes(score)
    judged = sum(sum(each.values()) for each in score.by_cause.values())
    found.append(_share("tier, first answer", score.tier_right, judged, 0.95))
    if score.onset_ns:
        median = float(np.median(score.onset_ns)) / 1e6
        worst = float(np.quantile(score.onset_ns, 0.9)) / 1e6
        figure = f"{median:.0f} ms (90 %: {worst:.0f} ms)"
        found.append(Row("onset, median error", figure, "at most 50 ms", median <= 50))
    if score.control_s:
        false = [each for name, each in score.false if name.startswith("control")]
        rate = len(false) / (score.control_s / 60)
        figure = f"{rate:.2f} a minute ({len(false)} in {score.control_s / 60:.0f} min)"
        found.append(Row("false findings, undisturbed", figure, "at most 0.1", rate <= 0.1))
    if score.pairs:
        row = _share("two at once, both named", score.pairs_named, score.pairs, 0.8)
        apart = f"; of {score.pairs_alone} more only one of the two held any request"
        found.append(replace(row, figure=row.figure + (apart if score.pairs_alone else "")))
    found.append(_failed(score))
    return found


def _failed(score: Score) -> Row:
    """Trials that gave nothing to score are no reason to repeat the others, but few may fail."""
    share = f"{len(score.failed)} of {score.trials}"
    names = f" ({', '.join(score.failed)}: see the log)" if score.failed else ""
    return Row(
        "trials that failed",
        share + names,
        "at most 1 in 10",
        len(score.failed) <= MOST_FAILED * score.trials,
    )


def _causes(score: Score) -> list[Row]:
    total: Counter[bool] = Counter()
    found = []
    for cause, answers in sorted(score.by_cause.items()):
        right, all_ = answers[cause], sum(answers.values())
        total[True] += right
        total[False] += all_ - right
        others = ", ".join(f"{n} {what}" for what, n in answers.most_common() if what != cause)
        row = _share(f"cause {cause}", right, all_, 0.75)
        said = f"{row.figure}; else {others}" if others else row.figure
        found.append(Row(row.what, said, row.bar, row.holds))
    row = _share("cause, first answer", total[True], sum(total.values()), 0.9)
    return [row, *found]


def _share(what: str, count: int, of: int, bar: float) -> Row:
    if not of:
        return Row(what, "-", f"at least {bar}", None)
    return Row(what, f"{count / of:.2f} ({count} of {of})", f"at least {bar}", count / of >= bar)


def markdown(score: Score) -> str:
    """Return the table."""
    head = ["| what | reached | bar | holds |", "|---|---|---|---|"]
    return "\n".join([*head, *(str(row) for row in rows(score))])
