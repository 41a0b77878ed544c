"""Prove the diagnosis on the real system: inject at random, diagnose blind, score, print a table.

``--quick`` runs one trial of each kind. ``--seed`` draws other disturbances. ``--runs`` keeps the
run folders; trials that are already there are scored again without being repeated, so a broken-off
proof goes on where it was and tries again what failed. A trial that fails ends nothing: the others
go on, and the table says which failed. A second table holds the findings' confidence against the
share that was right. ``--thresholds`` scores the trials again with each level of
:mod:`tierlab.diagnosis.thresholds` halved and doubled, and ``--unknown`` with each cause taken out
of the catalogue in turn. ``--outside`` runs so many trials with troubles that no injector makes,
and nothing else. Exits 1 when a bar is missed, when a row has nothing to count, when a confidence
is off by more than 0.1 or when more than one in ten trials of a kind failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import calibration
import coarsen
import device
import sensitivity
import truth
from campaign import FULL, QUICK, Planned, planned
from conduct import Conducted, conduct
from outside import outside
from score import Score, add_founded, add_overload, add_pairs, add_single, found_in
from sensitivity import Rules
from systems import SYSTEMS
from table import holds, markdown

from tierlab.analysis.observed import observe
from tierlab.diagnosis import Diagnosis, Examined
from tierlab.tables.run import Run

Seen = Callable[[Path, Path], Path]
"""Copies a run as somebody saw it who observed less; takes the run and the copy's place."""

Made = Sequence[tuple[Planned, Path]]
"""The trials that there are, each with its run folder."""

Truths = Mapping[str, list[truth.Injected]]
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


def main() -> int:
    """Run, diagnose, score and print; 1 when the full view misses a bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one trial of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, help="keep the run folders here")
    parser.add_argument("--workload", choices=SYSTEMS, default="rubbos")
    parser.add_argument("--capacity", type=int, help="how many users are served at most")
    parser.add_argument("--thresholds", action="store_true", help="halve and double each level")
    parser.add_argument("--unknown", action="store_true", help="leave out each cause in turn")
    parser.add_argument("--outside", type=int, help="so many trials of troubles of no class")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="tierlab-diagnosis-"))
        )
        system = SYSTEMS[asked.workload]
        system = replace(system, capacity=asked.capacity or system.capacity)
        if asked.outside:
            table, holding = outside(folder, system, asked.seed, asked.outside)
            print(table)
            return 0 if holding else 1
        size = replace(QUICK if asked.quick else FULL, system=system)
        conducted = conduct(planned(size, asked.seed), folder)
        print(f"Disturbances drawn from seed {asked.seed}.\n")
        proven = report(conducted)
        true = {trial.name: truth.read(folder) for trial, folder in conducted.made}
        by = partial(scored_by, made=conducted.made, truths=true, view=VIEWS[0])
        if asked.thresholds:
            print(sensitivity.of_thresholds(by))
        if asked.unknown:
            print(sensitivity.of_catalogue(by))
        return proven


def report(conducted: Conducted) -> int:
    """Score every view and print its table; the first one's misses are listed."""
    proven = True
    true = {trial.name: truth.read(folder) for trial, folder in conducted.made}
    for view in VIEWS:
        score = scored(conducted.made, true, view)
        score.failed = conducted.failed
        score.failed_kinds = conducted.failed_kinds
        score.planned = conducted.planned
        print(f"### {view.name}\n\n{markdown(score)}\n", flush=True)
        print(f"{calibration.markdown(score.claims)}\n", flush=True)
        if view.copy is None:
            explain(score)
            proven = holds(score) and calibration.calibrated(score.claims)
    return 0 if proven else 1


def scored(made: Made, truths: Truths, view: View) -> Score:
    """Diagnose every run as the view has it, and compare with the truth, by the trial's name."""
    (score,) = scored_by([nullcontext], made, truths, view)
    return score


def scored_by(rules: Sequence[Rules], made: Made, truths: Truths, view: View) -> list[Score]:
    """Do so by several rules, each in force within its context; every run is read once."""
    scores = [Score() for _ in rules]
    for trial, folder in made:
        true, slow = truths[trial.name], device.slow_ticks(folder)
        using = device.users(true)
        with tempfile.TemporaryDirectory(prefix="tierlab-view-") as scratch:
            seen = folder if view.copy is None else view.copy(folder, Path(scratch) / "run")
            observed = observe(Run(seen))
            examined = Examined(observed)
            for score, rule in zip(scores, rules, strict=True):
                with rule():
                    diagnosis = examined.diagnosis()
                diagnosis, natural = device.without(diagnosis, slow, using)
                score.device_stalls += natural
                _add(score, trial, true, diagnosis)
                if trial.kind == "control":
                    score.control_s += observed.measured.seconds if observed.measured else 0.0
    return scores


def _add(score: Score, trial: Planned, true: list[truth.Injected], diagnosis: Diagnosis) -> None:
    found = found_in(diagnosis)
    if trial.kind != "overload":
        score.claims += calibration.claims(diagnosis, true)
    if trial.kind == "single":
        add_single(score, trial.name, true, found)
    elif trial.kind == "pair":
        add_pairs(score, trial.name, true, found)
    elif trial.kind == "overload":
        add_overload(score, diagnosis)
    else:
        add_founded(score, trial.name, [], found)


def explain(score: Score) -> None:
    """Print what was missed, what was wrong and what nothing was injected for."""
    for name, each in score.missed:
        print(f"missed: {name}: {each.cause} at {each.subject}, {each.length_s * 1e3:.0f} ms")
    for name, true, found in score.wrong:
        print(
            f"wrong: {name}: {true.cause} at {true.subject}, {true.length_s * 1e3:.0f} ms, "
            f"taken for {found.cause} at {found.tier} ({found.confidence:.2f})"
        )
    for name, each in score.unnamed:
        length = each.length_s * 1e3
        print(f"one of two not named: {name}: {each.cause} at {each.subject}, {length:.0f} ms")
    for reason in score.failed.values():
        print(reason)
    print(f"left out: {score.device_stalls} windows of a disk that stood still by nobody's doing")
    for name, one in score.false:
        length = one.window.duration_s * 1e3
        print(
            f"unfounded: {name}: {one.cause} at {one.tier}, {length:.0f} ms, {one.confidence:.2f}"
        )
    print()


if __name__ == "__main__":
    sys.exit(main())
