"""Is a confidence of 0.8 right in eight of ten? The share of findings that was right.

A finding is right where a disturbance of its cause, done to its tier, stands behind at least half
of its windows, as the score has it (:func:`score.founded`). One that names no cause claims nothing
and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.stats import binomtest
from score import Claim, founded
from truth import Injected

from tierlab.diagnosis import Diagnosis
from tierlab.diagnosis.finding import Finding
from tierlab.diagnosis.merge import UNKNOWN

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FEWEST = 20
"""The share that was right of fewer findings is off by 0.1 by chance alone."""
MOST_OFF = 0.1


@dataclass(frozen=True)
class Bin:
    """Findings of like confidence. ``low`` to ``high`` is the interval (Wilson's, at 95 %) of the
    share that was ``right``. ``holds`` is None where they are too few to tell.
    """

    least: float
    most: float
    count: int
    confidence: float
    right: float
    low: float
    high: float

    @property
    def holds(self) -> bool | None:
        """Whether the share that was right is what was claimed, to 0.1."""
        if self.count < FEWEST:
            return None
        return abs(self.right - self.confidence) <= MOST_OFF

    def __str__(self) -> str:
        said = {True: "yes", False: "**no**", None: "too few to tell"}[self.holds]
        return (
            f"| {self.least:.1f} to {self.most:.1f} | {self.count} | {self.confidence:.2f}"
            f" | {self.right:.2f} ({self.low:.2f} to {self.high:.2f}) | {said} |"
        )


def claims(diagnosis: Diagnosis, true: Sequence[Injected]) -> list[Claim]:
    """Return what a diagnosis claims, held against what was injected."""
    return [
        Claim(each.confidence, _right(each, true))
        for each in diagnosis.findings
        if each.cause != UNKNOWN
    ]


def _right(finding: Finding, true: Sequence[Injected]) -> bool:
    mine = [each for each in true if each.told_by(finding.cause, finding.tier)]
    right = sum(
        any(founded(finding.cause, finding.tier, window, each) for each in mine)
        for window in finding.windows
    )
    return 2 * right >= len(finding.windows)


def bins(found: Iterable[Claim]) -> list[Bin]:
    """Return the bins that have any finding, the least sure first."""
    every = list(found)
    place = np.clip(np.digitize([each.confidence for each in every], EDGES) - 1, 0, len(EDGES) - 2)
    result = []
    for number in np.unique(place):
        mine = [each for each, at in zip(every, place, strict=True) if at == number]
        right = sum(each.right for each in mine)
        interval = binomtest(right, len(mine)).proportion_ci(method="wilson")
        result.append(
            Bin(
                least=EDGES[number],
                most=EDGES[number + 1],
                count=len(mine),
                confidence=float(np.mean([each.confidence for each in mine])),
                right=right / len(mine),
                low=float(interval.low),
                high=float(interval.high),
            )
        )
    return result


def calibrated(found: Iterable[Claim]) -> bool:
    """Say whether no bin is off by more than 0.1."""
    return all(each.holds is not False for each in bins(found))


def mended(found: Iterable[Claim]) -> list[tuple[float, float]]:
    """Return the confidence that each one claimed should have been: the monotonic function of it
    that is nearest to what was right (isotonic regression), as its steps (from, is).
    """
    every = sorted(found, key=lambda each: each.confidence)
    if not every:
        return []
    fit = isotonic_regression([float(each.right) for each in every]).x
    first = np.append(0, np.flatnonzero(np.diff(fit) > 0) + 1)
    return [(every[at].confidence, float(fit[at])) for at in first]


def markdown(found: Sequence[Claim]) -> str:
    """Return the table; and where a bin is off, what the confidences should have been."""
    head = ["| confidence | findings | mean | right (95 %) | holds |", "|---|---|---|---|---|"]
    lines = [*head, *map(str, bins(found))]
    if not calibrated(found):
        steps = ", ".join(f"from {at:.2f}: {be:.2f}" for at, be in mended(found))
        lines += ["", f"Right would be (isotonic regression): {steps}."]
    return "\n".join(lines)
