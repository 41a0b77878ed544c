"""Prove the diagnosis on the real system: inject at random, diagnose blind, score, print a table.

How many users the machine serves today is measured first, and followed from one trial to the next
(:mod:`capacity`), as the load levels are shares of it. ``--quick`` runs one trial of each kind.
``--seed`` draws other disturbances. ``--runs`` keeps the run folders; trials that are already there
are scored again without being repeated, so a broken-off proof goes on where it was and tries again
what failed. A trial that fails ends nothing: the others go on, and the table says which failed. A
second table holds the findings' confidence against the share that was right. A trial in which the
machine itself was slower than in the others of its load (:mod:`machine`) is named and left out, and
the tables with it follow.

``--thresholds`` scores the other trials again with each level of
:mod:`tierlab.diagnosis.thresholds` halved and doubled, ``--constants`` with each other number of
the rules (:mod:`constants`; it takes hours), and ``--unknown`` with each cause taken out of the
catalogue in turn. ``--outside`` runs so many trials with troubles that no injector makes, and
nothing else. Exits 1 when a bar is missed, when a row has nothing to count, when a confidence
is off by more than 0.1 or when more than one in ten trials of a kind failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Collection
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

import calibration
import capacity
import machine
import sensitivity
import truth
from campaign import FULL, QUICK, planned
from conduct import Conducted, conduct
from outside import outside
from score import Score
from scoring import VIEWS, Truths, score_of, scored_by, told_by
from systems import SYSTEMS
from table import holds, markdown
from troubles import TROUBLES

OTHER_RULES = {
    "thresholds": sensitivity.of_thresholds,
    "constants": sensitivity.of_constants,
    "unknown": sensitivity.of_catalogue,
}
"""What scores the same trials by other rules, by the option that asks for it."""


def main() -> int:
    """Run, diagnose, score and print; 1 when the full view misses a bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one trial of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=Path, help="keep the run folders here")
    parser.add_argument("--workload", choices=SYSTEMS, default="rubbos")
    parser.add_argument(
        "--capacity", type=int, help="how many users are served at most; else it is measured"
    )
    parser.add_argument("--thresholds", action="store_true", help="halve and double each level")
    parser.add_argument("--constants", action="store_true", help="and each other number: hours")
    parser.add_argument("--unknown", action="store_true", help="leave out each cause in turn")
    parser.add_argument("--outside", type=int, help="so many trials of troubles of no class")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="tierlab-diagnosis-"))
        )
        system = SYSTEMS[asked.workload]
        if asked.outside and system.name not in TROUBLES:
            parser.error(f"--outside knows troubles of {', '.join(TROUBLES)} alone")
        users = asked.capacity or capacity.measured(system, asked.seed, folder)
        print(f"At most {users:,} users are served.\n", flush=True)
        system = replace(system, capacity=users)
        if asked.outside:
            table, holding = outside(folder, system, asked.seed, asked.outside)
            print(table)
            return 0 if holding else 1
        size = replace(QUICK if asked.quick else FULL, system=system)
        trials = planned(size, asked.seed)
        if not asked.capacity:
            trials = capacity.followed(trials, folder)
        conducted = conduct(trials, folder)
        print(f"Disturbances drawn from seed {asked.seed}.\n")
        others = [name for name in OTHER_RULES if getattr(asked, name)]
        return prove(conducted, others)


def prove(conducted: Conducted, others: Collection[str] = ()) -> int:
    """Score and print, by ``others`` of the rules too; 1 when the full view misses a bar."""
    true = {trial.name: truth.read(folder) for trial, folder in conducted.made}
    paces = machine.paces(conducted.made, true)
    print(f"{paces}\n", flush=True)
    for name, count in conducted.again.items():
        print(f"{name} went well only when tried again (failed: {count})\n")
    proven = report(conducted, true, paces.slow)
    fair = [(trial, folder) for trial, folder in conducted.made if trial.name not in paces.slow]
    by = partial(scored_by, made=fair, truths=true, view=VIEWS[0])
    for name in others:
        print(OTHER_RULES[name](by))
    return proven


def report(conducted: Conducted, true: Truths, slow: Collection[str] = ()) -> int:
    """Score every view and print its table without the slow trials, and with them where there are
    any; the first one's misses are listed.
    """
    proven = True
    for view in VIEWS:
        (told,) = told_by([nullcontext], conducted.made, true, view)
        score = score_of(told, without=slow)
        _print(view.name, score, conducted)
        if view.copy is None:
            explain(score)
            proven = holds(score) and calibration.calibrated(score.claims)
        if slow:
            _print(f"{view.name}, with the trials left out", score_of(told), conducted)
    return 0 if proven else 1


def _print(title: str, score: Score, conducted: Conducted) -> None:
    score.failed = conducted.failed
    score.failed_kinds = conducted.failed_kinds
    score.planned = conducted.planned
    print(f"### {title}\n\n{markdown(score)}\n", flush=True)
    print(f"{calibration.markdown(score.claims)}\n", flush=True)


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
    print(
        f"left out: {score.device_stalls} windows of a disk that stood still by nobody's doing, "
        f"{score.stalls_within} of them during a disturbance"
    )
    if score.not_beyond:
        print(f"no overload, as all who came were served at once: {', '.join(score.not_beyond)}")
    print(f"recalled by a window that touches several disturbances only: {score.together}")
    for name, one in score.false:
        length = one.window.duration_s * 1e3
        print(
            f"unfounded: {name}: {one.cause} at {one.tier}, {length:.0f} ms, {one.confidence:.2f}"
        )
    print()


if __name__ == "__main__":
    sys.exit(main())
