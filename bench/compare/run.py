"""Do intervals of `tierlab compare` hold the truth as often as they say, and is a slowdown found?

    python bench/compare/run.py [--environment native|podman] [--trials N] [--runs DIR]

Runs one experiment N times (30), each with a seed of its own, and compares 400 pairs of groups of
one, three and five trials; what alike trials differ by is taken from the other ones too. Groups of
several are drawn twice: at random, and in turns as an experiment's repetitions make them (pairs of
neighbours in time, who goes first by chance). Then the same pairs with a second group that was
made slower: each request ended later by 5, 10 or 20 % of its response time. Prints in how many the
intervals hold the truth, what is claimed of alike groups, and the power for each slowdown. Exits 1
when intervals of alike groups cover 0 in less than 93 or more than 97 %, or groups of five that
were made in turns find a slowdown of 10 % in less than 90 %: single trials differ by a third of
that and more.

A broken-off bench goes on where it was if its runs are kept (`--runs`); `--most N` makes at most
N more trials in this go, for machines that are quiet for a few minutes at a time.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from scipy.stats import shapiro

from tierlab.analysis.comparing.blocks import Blocks, blocks
from tierlab.analysis.comparing.bootstrap import as_measured
from tierlab.analysis.comparing.compare import SURE, Difference, compare
from tierlab.analysis.comparing.compare_measures import BY_PAGE, PER_DRIVER, measures
from tierlab.analysis.observed import observe
from tierlab.tables.manifest import NAME
from tierlab.tables.run import Run

TIERLAB = Path(sys.executable).with_name("tierlab")
PAIRS = 400
SIZES = (1, 3, 5)
"""Trials in a group."""
SLOWDOWNS = (0.05, 0.1, 0.2)
BAR = 0.1
COVERED = (0.93, 0.97)
FOUND_BY = {5: 0.9}
"""Least share in which groups that were made in turns find a slowdown of BAR, by their size."""
TIMES = (BY_PAGE, PER_DRIVER)
HEADLINES = (*TIMES, "throughput")
FEWEST = 12
"""Trials: two groups of the largest size, and some beside them."""
Pair = tuple[Sequence[int], Sequence[int]]
"""Two groups, as their trials' places in time."""
EXPERIMENT = """[experiment]
name = "alike-{number}"
seed = {number}
[system]
workload = "rubbos"
environment = "{environment}"
[load]
users = 1000
mix = "read-write"
phases = {{ ramp_up = "10s", runtime = "25s", ramp_down = "1s" }}
"""


def main() -> int:
    """Run, compare and print; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", choices=("native", "podman"), default="native")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--most", type=int, help="make at most so many of them now")
    parser.add_argument("--runs", type=Path, help="keep the run folders here, or use those there")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="tierlab-compare-"))
        )
        runs = trials(folder / asked.environment, asked.environment, asked.trials, asked.most)
        if len(runs) < FEWEST:
            print(f"{len(runs)} trials in {folder}: {FEWEST} are needed to draw pairs of them")
            return 1
        made = [cut(run) for run in runs]
        slower = {share: [cut(run, share) for run in runs] for share in SLOWDOWNS}
    print(f"{asked.environment}: {len(made)} trials")
    show_differing(made)
    held = []
    for size in SIZES:
        print(f"{PAIRS} pairs of groups of {size}, at random:")
        held.append(show_claims(made, slower, at_random(len(made), size)))
        if size > 1:
            print(f"{PAIRS} pairs of groups of {size}, in turns:")
            held.append(show_claims(made, slower, in_turns(len(made), size), FOUND_BY.get(size)))
    return 0 if all(held) else 1


def trials(folder: Path, environment: str, count: int, most: int | None) -> list[Run]:
    """Run the experiments that are not there, at most so many; return those that are, in time."""
    folder.mkdir(parents=True, exist_ok=True)
    left = count if most is None else most
    for number in range(1, count + 1):
        if left > 0 and finished(folder, number) is None:
            left -= 1
            file = folder / f"alike-{number}.toml"
            file.write_text(EXPERIMENT.format(number=number, environment=environment))
            with file.with_suffix(".log").open("w") as log:
                subprocess.run([TIERLAB, "run", file, "--runs", folder], check=False, stdout=log)
    found = (finished(folder, number) for number in range(1, count + 1))
    done = [run for run in found if run is not None]
    return sorted(done, key=lambda run: run.manifest.created_ns)


def finished(folder: Path, number: int) -> Run | None:
    """Return the trial of that number that came to its end."""
    for path in sorted((folder / f"alike-{number}").glob("[0-9]*/")):
        if (path / NAME).exists() and (run := Run(path)).manifest.exit.state == "done":
            return run
    return None


def cut(run: Run, slower: float = 0.0) -> Blocks:
    """Cut a trial into blocks, every response time longer by a share."""
    observed = observe(run)
    if observed.measured is None:
        raise SystemExit(f"{run.path} saw no requests")
    observed.db.execute(
        f"""CREATE TABLE later AS SELECT * REPLACE
                (end_ns + ({slower} * (end_ns - intended_ns))::BIGINT AS end_ns) FROM requests;
            CREATE OR REPLACE VIEW requests AS FROM later"""
    )
    return blocks(observed.db, observed.measured).summed()


def show_differing(made: Sequence[Blocks]) -> None:
    """Print each measure's standard deviation over the trials, whether it is normal, and how much
    of it carries over from one trial to the next.
    """
    drawn = as_measured(made)
    print("standard deviation between trials (Shapiro and Wilk's p that it is normal; correlation")
    print("of a trial with the next):")
    for each in measures([trial.trial for trial in drawn]):
        figures = np.array([each.figure(trial)[0] for trial in drawn])
        scaled = figures if each.least is not None else np.log(figures)
        normal = shapiro(scaled).pvalue if np.ptp(scaled) else 1.0
        carried = np.corrcoef(scaled[:-1], scaled[1:])[0, 1] if np.ptp(scaled) else 0.0
        print(f"  {each.name:40} {scaled.std(ddof=1):7.2%} ({normal:.2f}; {carried:+.2f})")


def show_claims(
    made: Sequence[Blocks],
    slower: Mapping[float, Sequence[Blocks]],
    pairs: Sequence[Pair],
    least_power: float | None = None,
) -> bool:
    """Print how often intervals hold the truth, and what is claimed; false when a bar is missed."""
    alike = [differences(made, made, pair) for pair in pairs]
    covered = {name: sum(holds(found[name], 0.0) for found in alike) / PAIRS for name in HEADLINES}
    for name, share in covered.items():
        print(f"  alike: the 95 % interval of {name} holds 0 in {share:.1%} (93 to 97 %)")
    false = Counter(name for found in alike for name, each in found.items() if claimed(each))
    wrong = sum(any(claimed(each) for each in found.values()) for found in alike)
    print(f"  alike: a difference claimed in {wrong / PAIRS:.1%} (at most 5 %): {dict(false)}")
    power = {share: show_power(made, trials_, share, pairs) for share, trials_ in slower.items()}
    good = all(COVERED[0] <= each <= COVERED[1] for each in covered.values())
    enough = least_power is None or power[BAR] >= least_power
    return good and enough and wrong <= SURE * PAIRS


def in_turns(count: int, size: int) -> list[Pair]:
    """Pairs of groups of so many of the trials, as repetitions make them: of each of so many pairs
    of neighbours, which lie anywhere in the whole time, one trial is in each group.
    """
    dice = random.Random(size)
    pairs = []
    for _ in range(PAIRS):
        neighbours = [(at, at + 1) for at in range(dice.randrange(2), count - 1, 2)]
        blocks = [dice.sample(each, 2) for each in dice.sample(neighbours, size)]
        pairs.append(([one for one, _ in blocks], [other for _, other in blocks]))
    return pairs


def at_random(count: int, size: int) -> list[Pair]:
    """Pairs of groups of so many of the trials, from the whole time."""
    dice = random.Random(size)
    both = [dice.sample(range(count), 2 * size) for _ in range(PAIRS)]
    return [(each[:size], each[size:]) for each in both]


def show_power(
    made: Sequence[Blocks], slower: Sequence[Blocks], share: float, pairs: Sequence[Pair]
) -> float:
    """Print in how many a slowdown is found, which is returned, and held by the intervals."""
    slowed = [differences(made, slower, pair) for pair in pairs]
    found = [{name for name in TIMES if each[name].verdict == "worse"} for each in slowed]
    power = sum(map(bool, found)) / PAIRS
    by = dict(Counter(name for each in found for name in each))
    held = [sum(holds(each[name], share) for each in slowed) / PAIRS for name in TIMES]
    print(
        f"  {share:.0%} slower: found in {power:.1%}, by {by};"
        f" the intervals hold it in {', '.join(f'{each:.1%}' for each in held)}"
    )
    return power


def differences(
    made: Sequence[Blocks], second: Sequence[Blocks], pair: Pair
) -> dict[str, Difference]:
    """What is found of two groups beside all other trials, by measure."""
    one, other = pair
    beside = [each for at, each in enumerate(made) if at not in {*one, *other}]
    groups = [made[at] for at in one], [second[at] for at in other]
    ((*found,),) = compare([groups], beside=[beside])
    return {each.measure: each for each in found}


def claimed(each: Difference) -> bool:
    """Whether it is said to be better or worse."""
    return each.verdict in {"better", "worse"}


def holds(each: Difference, truth: float) -> bool:
    """Whether the truth lies in the interval."""
    return each.low is not None and each.high is not None and each.low <= truth <= each.high


if __name__ == "__main__":
    sys.exit(main())
