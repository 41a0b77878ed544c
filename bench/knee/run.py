"""Does `tierlab run --find-knee` find the knee of twenty single runs, and in a quarter of their
time?

    python bench/knee/run.py [--users N] [--runtime S] [--runs DIR]

A web server of 150 processes, each of which a user keeps while it thinks, is driven by a closed
loop: in twenty trials of a twentieth, two twentieths ... of N users (400), each with a ramp-up of
its own and S seconds (20), and by the search, whose experiment file is the same. The knee of both
is where throughput stops to follow the users, found by the same two lines; with so little to
compute, it hardly depends on what else the machine does. Prints both with their intervals, what
differs, and the wall time of both, from starting the command to its end. Exits 1 when they differ
by more than 5 %, or the search takes more than a quarter of the time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tierlab.analysis.knee.search import Knee, knee
from tierlab.analysis.knee.step import Windows, windows
from tierlab.analysis.observed import observe
from tierlab.tables.run import Run

TIERLAB = Path(sys.executable).with_name("tierlab")
SINGLE = 20
CLOSE = 0.05
QUICK = 0.25
EXPERIMENT = """[experiment]
name = "{name}"
[system]
workload = "static"
[system.web]
mpm = "prefork"
soft = {{ threads = 150, keep_alive_timeout = "5s" }}
[load]
users = {users}
think = "200ms"
connection = "keep-alive"
phases = {{ ramp_up = "3s", runtime = "{runtime}s", ramp_down = "1s" }}
[observe]
samplers = "none"
messages = false
"""


def main() -> int:
    """Run, compare and print; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=400)
    parser.add_argument("--runtime", type=int, default=20)
    parser.add_argument("--runs", type=Path, help="keep the run folders here")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = asked.runs or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="tierlab-knee-"))
        )
        folder.mkdir(parents=True, exist_ok=True)
        alone, alone_s = single_runs(folder, asked.users, asked.runtime)
        found, found_s, trials = search(folder, asked.users, asked.runtime)
    show(f"{SINGLE} single runs", alone, alone_s, SINGLE)
    show("the search", found, found_s, trials)
    if alone.load is None or found.load is None:
        print("no knee: name more --users")
        return 1
    apart, ratio = found.load / alone.load - 1, found_s / alone_s
    print(f"the knees differ by {apart:+.1%} (bar: {CLOSE:.0%})")
    print(f"the search takes {ratio:.2f} of the time (bar: {QUICK})")
    return 0 if abs(apart) <= CLOSE and ratio <= QUICK else 1


def single_runs(folder: Path, users: int, runtime: int) -> tuple[Knee, float]:
    """The knee that single runs show, and how long they took."""
    file = folder / "single.toml"
    levels = [users * step // SINGLE for step in range(1, SINGLE + 1)]
    text = EXPERIMENT.format(name="single", users=users, runtime=runtime)
    file.write_text(f'{text}[factors]\n"load.users" = {levels}\n')
    seconds = run(file, folder)
    seen = [single(folder / "single" / f"{n:03}") for n in range(1, SINGLE + 1)]
    return knee(seen, {}, is_closed=True), seconds


def single(path: Path) -> Windows:
    """A trial of one load, as a step."""
    observed = observe(Run(path))
    try:
        assert observed.measured is not None, path
        manifest = observed.run.manifest
        return windows(observed.db, observed.measured, manifest.load["users"], manifest.trial)
    finally:
        observed.db.close()


def search(folder: Path, users: int, runtime: int) -> tuple[Knee, float, int]:
    """The knee that the search finds, how long it took, and in how many trials."""
    file = folder / "search.toml"
    file.write_text(EXPERIMENT.format(name="search", users=users, runtime=runtime))
    seconds = run(file, folder, "--find-knee")
    (found,) = json.loads((folder / "search" / "knee.json").read_text())["found"]
    return Knee.model_validate(found["knee"]), seconds, len(found["trials"])


def run(file: Path, folder: Path, *more: str) -> float:
    """Run an experiment; return how many seconds that took."""
    began = time.monotonic()
    command = [str(TIERLAB), "run", str(file), "--runs", str(folder), "--json", *more]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed ({done.returncode})")
    return time.monotonic() - began


def show(name: str, found: Knee, seconds: float, trials: int) -> None:
    """Print a knee with its interval, and what it took."""
    at = "none" if found.load is None else f"{found.load:,.0f} users"
    high = "?" if found.high is None else f"{found.high:,.0f}"
    print(f"{name}: {at} ({found.low:,.0f} to {high}), {trials} trials, {seconds:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
