"""How often do two trials of one system differ, to `tierlab compare`, and is a slowdown found?

    python bench/compare/run.py [--trials N] [--runs DIR]

Runs one experiment N times (10), then compares 100 pairs of its trials drawn at random, and 100
pairs whose second trial had every response time made 10 % longer. Exits 1 when a difference is
claimed in more than 5 of the first, or the slowdown is found in fewer than 90 of the second.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from tierlab.analysis.blocks import BIN, Blocks, blocks
from tierlab.analysis.compare import compare
from tierlab.analysis.groups import groups_of
from tierlab.analysis.observed import observe

TIERLAB = Path(sys.executable).with_name("tierlab")
PAIRS = 100
SLOWER = 1.1
EXPERIMENT = """
[experiment]
name = "alike"
[system]
workload = "rubbos"
[load]
users = 700
mix = "read-write"
phases = {{ ramp_up = "8s", runtime = "30s", ramp_down = "1s" }}
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
        made = trials(folder, asked.trials)
    dice = random.Random(1)
    pairs = [dice.sample(made, 2) for _ in range(PAIRS)]
    alike = Counter(name for one, other in pairs for name in claims(one, other))
    false = sum(bool(claims(one, other)) for one, other in pairs)
    found = sum("response time, by page" in claims(one, slowed(other)) for one, other in pairs)
    print(f"{len(made)} trials, {PAIRS} pairs of them")
    print(f"alike: a difference claimed in {false} (at most 5): {dict(alike)}")
    print(f"second one's response times 10 % longer: found in {found} (at least 90)")
    return 0 if false <= 5 and found >= 90 else 1


def trials(folder: Path, count: int) -> list[Blocks]:
    """Run the experiment, unless it is there, and cut its trials into blocks."""
    if not (folder / "alike").is_dir():
        file = folder / "alike.toml"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(EXPERIMENT.format(trials=count))
        with (folder / "alike.log").open("w") as log:
            subprocess.run([TIERLAB, "run", file, "--runs", folder], check=True, stdout=log)
    cut = []
    for run in groups_of(folder / "alike")[0].runs:
        observed = observe(run)
        if observed.measured is None:
            raise SystemExit(f"{run.path} saw no requests")
        cut.append(blocks(observed.db, observed.measured))
    return cut


def claims(one: Blocks, other: Blocks) -> list[str]:
    """The measures by which a difference is claimed."""
    found = compare([one], [other])
    return [each.measure for each in found if each.verdict != "within noise"]


def slowed(trial: Blocks) -> Blocks:
    """The trial with every response time longer by about a tenth (whole bins of 1 %)."""
    bins = round(np.log(SLOWER) / np.log(BIN))
    times = {name: np.roll(counts, bins, axis=1) for name, counts in trial.times.items()}
    return dataclasses.replace(trial, times=times, time_s=trial.time_s * SLOWER)


if __name__ == "__main__":
    sys.exit(main())
