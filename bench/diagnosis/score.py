"""Found against true: recall, precision, cause, tier and onset, each a sum over trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from truth import Injected

from tierlab.diagnosis import Diagnosis
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.merge import UNKNOWN

OVERLOAD, COLD = "overload", "cold_cache"
SHORT_S = 0.1
BEFORE_NS = 60_000_000
AFTER = 0.5
AFTER_NS = 300_000_000
"""What a disturbance piled up is worked off within half its length and this: no false finding."""


@dataclass(frozen=True)
class Found:
    """One window of one finding, which stands at that ``place`` in the report."""

    cause: str
    tier: str
    window: Window
    confidence: float
    place: int = 0


@dataclass(frozen=True)
class Claim:
    """A finding that names a cause: how sure it was, and whether it was so."""

    confidence: float
    right: bool


@dataclass
class Score:
    """Counts of disturbances and findings; see the table's columns."""

    true: Counter[str] = field(default_factory=Counter)
    recalled: Counter[str] = field(default_factory=Counter)
    windows: Counter[str] = field(default_factory=Counter)
    founded: Counter[str] = field(default_factory=Counter)
    by_cause: dict[str, Counter[str]] = field(default_factory=dict)
    tier_right: int = 0
    onset_ns: list[int] = field(default_factory=list)
    named: int = 0
    named_right: int = 0
    pairs_drawn: int = 0
    pairs: int = 0
    pairs_named: int = 0
    pairs_alone: int = 0
    pairs_late: int = 0
    pairs_late_named: int = 0
    unnamed: list[tuple[str, Injected]] = field(default_factory=list)
    planned: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    failed_kinds: Counter[str] = field(default_factory=Counter)
    control_s: float = 0.0
    device_stalls: int = 0
    stalls_within: int = 0
    together: int = 0
    not_beyond: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    false: list[tuple[str, Found]] = field(default_factory=list)
    missed: list[tuple[str, Injected]] = field(default_factory=list)
    wrong: list[tuple[str, Injected, Found]] = field(default_factory=list)


def found_in(diagnosis: Diagnosis) -> list[Found]:
    """Return a diagnosis' windows, one by one, in order of time."""
    windows = [
        Found(each.cause, each.tier, window, each.confidence, place)
        for place, each in enumerate(diagnosis.findings)
        for window in each.windows
    ]
    return sorted(windows, key=lambda each: each.window.start_ns)


def size(length_s: float) -> str:
    """Return the class of length that the bars speak of."""
    return "50-100 ms" if length_s < SHORT_S else "from 100 ms"


def add_single(score: Score, name: str, true: Sequence[Injected], found: Sequence[Found]) -> None:
    """Score a trial with one disturbance at a time. The first answer is that of the finding which
    the report puts first of those that touch the time, not the one that fits best.
    """
    for each in true:
        if not each.delayed:
            continue
        hits = [one for one in found if touches(one.window, each)]
        score.true[size(each.length_s)] += 1
        if not hits:
            score.missed.append((name, each))
            continue
        score.recalled[size(each.length_s)] += 1
        score.together += all(_of_another(one.window, each, true) for one in hits)
        first = min(hits, key=lambda one: (one.place, one.window.start_ns))
        score.by_cause.setdefault(each.cause, Counter())[first.cause] += 1
        score.tier_right += first.tier in {each.tier, *each.beside}
        score.onset_ns.append(abs(min(one.window.start_ns for one in hits) - each.start_ns))
        if not each.told_by(first.cause, first.tier):
            score.wrong.append((name, each, first))
    add_founded(score, name, true, found)
    add_named(score, true, found)


def add_overload(score: Score, diagnosis: Diagnosis) -> None:
    """Score a trial of more users than can be served: the first answer is to say so."""
    first = diagnosis.findings[0].cause if diagnosis.findings else "nothing"
    score.by_cause.setdefault(OVERLOAD, Counter())[first] += 1


def add_not_beyond(score: Score, name: str) -> None:
    """Keep a trial in which no more came than could be served: of none that were too many there is
    nothing to count, and the row says so.
    """
    score.not_beyond.append(name)
    score.by_cause.setdefault(OVERLOAD, Counter())


def add_founded(score: Score, name: str, true: Sequence[Injected], found: Sequence[Found]) -> None:
    """Count the windows that a disturbance stands behind, and keep the others."""
    for one in found:
        score.windows[size(one.window.duration_s)] += 1
        if any(founded(one.cause, one.tier, one.window, each) for each in true):
            score.founded[size(one.window.duration_s)] += 1
        else:
            score.false.append((name, one))


def add_named(score: Score, true: Sequence[Injected], found: Sequence[Found]) -> None:
    """Count the windows that name a cause where something was disturbed, and those that name one
    that was there, with its tier. ``unknown`` names none.
    """
    for one in found:
        near = [each for each in true if touches(one.window, each)]
        if near and one.cause != UNKNOWN:
            score.named += 1
            score.named_right += any(each.told_by(one.cause, one.tier) for each in near)


def add_pairs(score: Score, name: str, true: Sequence[Injected], found: Sequence[Found]) -> None:
    """Score a trial whose disturbances come two at once: both are to be named with their tiers.

    A pair counts where each of the two held visits at its own server. Where only one did, the
    other delayed nobody, however late the requests were meanwhile: such pairs are counted apart.
    Beside that, all pairs are counted in which requests were late during both.
    """
    add_founded(score, name, true, found)
    add_named(score, true, found)
    for one, other in pairs(true):
        unnamed = [cause for cause in (one, other) if not _named(cause, found)]
        score.pairs_drawn += 1
        if one.delayed and other.delayed:
            score.pairs_late += 1
            score.pairs_late_named += not unnamed
        if not (one.held and other.held):
            score.pairs_alone += bool(one.held or other.held)
            continue
        score.pairs += 1
        score.pairs_named += not unnamed
        score.unnamed += [(name, cause) for cause in unnamed]


def pairs(true: Sequence[Injected]) -> list[tuple[Injected, Injected]]:
    """Return those that were drawn to come at once; a pair of which one is missing is none."""
    drawn = {each.number: each for each in true}
    return [
        (drawn[number], drawn[number + 1])
        for number in sorted(drawn)
        if number % 2 and number + 1 in drawn
    ]


def _named(true: Injected, found: Sequence[Found]) -> bool:
    return any(true.told_by(each.cause, each.tier) and touches(each.window, true) for each in found)


def _of_another(window: Window, mine: Injected, true: Sequence[Injected]) -> bool:
    return any(touches(window, each) for each in true if each is not mine)


def founded(cause: str, tier: str, window: Window, true: Injected) -> bool:
    """Say whether a disturbance stands behind a window in which that is told."""
    return touches(window, true) or _still_cold(cause, tier, window, true)


def _still_cold(cause: str, tier: str, window: Window, true: Injected) -> bool:
    """Say whether it is told of a cache that was emptied before: what it held comes back as it is
    asked for, which may take the rest of the trial.
    """
    later = window.start_ns > true.end_ns
    return cause == true.cause == COLD and tier == true.tier and later


def touches(window: Window, true: Injected) -> bool:
    """Say whether a window is of a disturbance or of what it piled up."""
    after = AFTER_NS + int(AFTER * (true.end_ns - true.start_ns))
    return window.start_ns < true.end_ns + after and window.end_ns > true.start_ns - BEFORE_NS
