"""From run folders to scores: what was told of each trial, and how it is held against the truth."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import calibration
import coarsen
import device
from beyond import was_beyond
from campaign import Planned
from score import (
    Score,
    add_founded,
    add_not_beyond,
    add_overload,
    add_pairs,
    add_single,
    found_in,
    touches,
)
from sensitivity import Rules
from truth import Injected

from tierlab.analysis.observed import observe
from tierlab.diagnosis import Diagnosis, Examined
from tierlab.diagnosis.finding import Window
from tierlab.tables.run import Run

Seen = Callable[[Path, Path], Path]
"""Copies a run as somebody saw it who observed less; takes the run and the copy's place."""

Made = Sequence[tuple[Planned, Path]]
"""The trials that there are, each with its run folder."""

Truths = Mapping[str, list[Injected]]
"""What was injected, by the trial's name."""


@dataclass(frozen=True)
class View:
    """A way to observe; ``copy`` is None for all that there is."""

    name: str
    copy: Seen | None


def ticks(tick_ms: int) -> View:
    """Return the view of longer ticks."""

    def copy(run: Path, target: Path) -> Path:
        return coarsen.coarser(run, target, tick_ms * 1_000_000)

    return View(f"samples at {tick_ms} ms", copy)


VIEWS = (
    View("samples at 50 ms and messages", None),
    ticks(100),
    ticks(200),
    ticks(1000),
    View("without messages", coarsen.without_messages),
)


@dataclass(frozen=True)
class Told:
    """What was told of a trial of which that is true; ``stalls`` are the windows of a disk that
    stood still by nobody's doing; they are not in it any more. ``beyond`` says of one with too many
    users whether they were.
    """

    trial: Planned
    true: Sequence[Injected]
    diagnosis: Diagnosis
    stalls: Sequence[Window]
    measured_s: float
    beyond: bool = True


def told_by(rules: Sequence[Rules], made: Made, truths: Truths, view: View) -> list[list[Told]]:
    """Diagnose every run as the view has it, by several rules, each in force within its context;
    every run is read once.
    """
    told: list[list[Told]] = [[] for _ in rules]
    for trial, folder in made:
        true, slow = truths[trial.name], device.slow_ticks(folder)
        beyond = trial.kind != "overload" or was_beyond(folder)
        with tempfile.TemporaryDirectory(prefix="tierlab-view-") as scratch:
            seen = folder if view.copy is None else view.copy(folder, Path(scratch) / "run")
            observed = observe(Run(seen))
            seconds = observed.measured.seconds if observed.measured else 0.0
            examined = Examined(observed)
            for each, rule in zip(told, rules, strict=True):
                with rule():
                    diagnosis = examined.diagnosis()
                kept, stalls = device.without(diagnosis, slow, device.users(true))
                each.append(Told(trial, true, kept, stalls, seconds, beyond))
    return told


def scored_by(rules: Sequence[Rules], made: Made, truths: Truths, view: View) -> list[Score]:
    """Do so, and compare with the truth."""
    return [score_of(told) for told in told_by(rules, made, truths, view)]


def score_of(told: Iterable[Told], without: Collection[str] = ()) -> Score:
    """Compare with the truth what was told of the trials, but for those of these names."""
    score = Score()
    for each in told:
        if each.trial.name not in without:
            _add(score, each)
    return score


def _add(score: Score, told: Told) -> None:
    trial, found = told.trial, found_in(told.diagnosis)
    score.device_stalls += len(told.stalls)
    score.stalls_within += sum(
        any(touches(window, each) for each in told.true) for window in told.stalls
    )
    if trial.kind != "overload":
        score.claims += calibration.claims(told.diagnosis, told.true)
    if trial.kind == "single":
        add_single(score, trial.name, told.true, found)
    elif trial.kind == "pair":
        add_pairs(score, trial.name, told.true, found)
    elif trial.kind == "overload" and told.beyond:
        add_overload(score, told.diagnosis)
    elif trial.kind == "overload":
        add_not_beyond(score, trial.name)
    else:
        add_founded(score, trial.name, [], found)
        score.control_s += told.measured_s
