"""How often do two trials of one system differ, to `tierlab compare`, and is a slowdown found?

    python bench/compare/run.py [--trials N] [--runs DIR]

Runs one experiment N times (10), each with a seed of its own, then compares 100 pairs of its trials
drawn at random, and 100 pairs whose second trial was made slower: each of its requests ended later
by a tenth of its response time. Exits 1 when a difference is claimed in more than 5 of the first,
or the slowdown is found in fewer than 90 of the second. Prints how much the trials differ among
themselves in each measure: what `tierlab.analysis.compare_measures` expects of alike trials.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from tierlab.analysis.blocks import Blocks, blocks
from tierlab.analysis.compare import Difference, compare
from tierlab.analysis.compare_measures import BY_PAGE, PER_DRIVER, measures
from tierlab.analysis.groups import groups_of
from tierlab.analysis.observed import observe
from tierlab.analysis.redrawn import redrawn
from tierlab.tables.run import Run

TIERLAB = Path(sys.executable).with_name("tierlab")
PAIRS = 100
SLOWER = 0.1
EXPERIMENT = """
[experiment]
name = "alike"
[system]
workload = "rubbos"
[load]
users = 1500
mix = "read-write"
phases = {{ ramp_up = "30s", runtime = "60s", ramp_down = "1s" }}
[factors]
repeat = {trials}
"""


def main() -> int:
    """Run, compare and print; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--runs", type=Path, help="keep the run folders here, or use those there")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="tierlab-compare-"))
        )
        runs = trials(folder, asked.trials)
        made, slower = [cut(run) for run in runs], [cut(run, SLOWER) for run in runs]
    print(f"{len(made)} trials, {PAIRS} pairs of them")
    show_differing(made)
    return show_claims(made, slower)


def trials(folder: Path, count: int) -> tuple[Run, ...]:
    """Run the experiment, unless it is there."""
    if not (folder / "alike").is_dir():
        file = folder / "alike.toml"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(EXPERIMENT.format(trials=count))
        with (folder / "alike.log").open("w") as log:
            subprocess.run([TIERLAB, "run", file, "--runs", folder], check=True, stdout=log)
    return groups_of(folder / "alike")[0].runs


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
    return blocks(observed.db, observed.measured)


def show_differing(made: Sequence[Blocks]) -> None:
    """Print each measure's standard deviation over the trials."""
    drawn = redrawn(made, 1, seed=0)
    print("standard deviation between trials, within them included, and as expected between them:")
    for each in measures(made):
        figures = np.array([each.figure(trial)[0] for trial in drawn])
        scaled = figures if each.least is not None else np.log(figures)
        print(f"  {each.name:28} {scaled.std(ddof=1):7.2%} {each.between:7.2%}")


def show_claims(made: Sequence[Blocks], slower: Sequence[Blocks]) -> int:
    """Print what is claimed of pairs, alike and slowed; 1 when a bar is missed."""
    dice = random.Random(1)
    pairs = [dice.sample(range(len(made)), 2) for _ in range(PAIRS)]
    alike = [differences(made[one], made[other]) for one, other in pairs]
    slowed = [differences(made[one], slower[other]) for one, other in pairs]
    claimed = Counter(
        name for found in alike for name, each in found.items() if each.verdict != "within noise"
    )
    false = sum(any(e.verdict != "within noise" for e in found.values()) for found in alike)
    seen = {
        name: sum(found[name].verdict == "worse" for found in slowed)
        for name in (BY_PAGE, PER_DRIVER)
    }
    either = sum(any(found[name].verdict == "worse" for name in seen) for found in slowed)
    print(f"alike: a difference claimed in {false} (at most 5): {dict(claimed)}")
    print(f"response times 10 % longer: found in {either} (at least 90): {seen}")
    for name in seen:
        held = [
            sum(holds(f[name], truth) for f in s) for s, truth in ((alike, 0), (slowed, SLOWER))
        ]
        print(f"interval of {name}: holds the truth in {held[0]} and {held[1]} (95 are meant)")
    return 0 if false <= 5 and either >= 90 else 1


def differences(one: Blocks, other: Blocks) -> dict[str, Difference]:
    """What is found of two single trials, by measure."""
    ((*found,),) = compare([([one], [other])])
    return {each.measure: each for each in found}


def holds(each: Difference, truth: float) -> bool:
    """Whether the truth lies in the interval."""
    return each.low is not None and each.high is not None and each.low <= truth <= each.high


if __name__ == "__main__":
    sys.exit(main())
