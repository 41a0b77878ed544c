"""What a profile costs: RUBBoS's throughput with `perf record` at 99 samples a second and without.

    python bench/profile/perf.py [--rate N] [--groups N] [--seconds N] [--warm-up N]

Off and on in turns (A B B A, B A A B, ...) on one system that stays up, all that the machine can,
so that neither a noisy machine nor servers that grow warmer favour the one or the other. Stacks are
recorded; Tomcat keeps its frame pointers in all runs, so that what this alone costs is not in the
ratio. Fails where throughput is more than a hundredth below that without.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "trace"))

from four_tiers import FourTiers
from throughput import SCALE, Ratio, load

from tierlab.experiment.profile import Profile
from tierlab.observe.perf import Recorder
from tierlab.observe.profile_needs import check_profile, events_of

LEAST_THROUGHPUT = 0.99


@contextmanager
def profiled(tiers: FourTiers, profile: Profile, name: str) -> Iterator[Recorder]:
    """Record as a trial does."""
    file = tiers.folder / f"{name}.data"
    recorder = Recorder(profile, events_of(profile), file, file.with_suffix(".log"))
    try:
        recorder.start(tiers.spawn)
        yield recorder
    finally:
        recorder.stop()
        file.unlink(missing_ok=True)


def group(tiers: FourTiers, profile: Profile, number: int, seconds: float) -> float:
    """Four runs in an order that a drift favours neither way (ABBA); returns on over off."""
    reached: dict[bool, list[float]] = {False: [], True: []}
    cpu_ns = 0
    order = (False, True, True, False) if number % 2 == 0 else (True, False, False, True)
    for turn, on in enumerate(order):
        if not on:
            reached[False].append(load(tiers, seconds))
            continue
        with profiled(tiers, profile, f"{number}-{turn}") as recorder:
            reached[True].append(load(tiers, seconds))
        cpu_ns += recorder.cpu_ns
    ratio = sum(reached[True]) / sum(reached[False])
    print(
        f"{sum(reached[False]) / 2:.0f} requests/s without a profile, {sum(reached[True]) / 2:.0f}"
        f" with: {ratio:.3f} (perf itself took {cpu_ns / seconds / 2 / 1e7:.1f} % of a core)",
        flush=True,
    )
    return ratio


def measure(profile: Profile, warm_up: float, groups: int, seconds: float) -> Ratio:
    """Bring the system up, warm it up, and run the groups."""
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as folder:
        trial = f"tierlab-bench-profile-{os.getpid()}"
        tiers = FourTiers(trial, SCALE, Path(folder), profiled=True)
        try:
            tiers.start()
            load(tiers, warm_up)
            with profiled(tiers, profile, "warm-up"):
                load(tiers, 1)
            return Ratio(tuple(group(tiers, profile, n, seconds) for n in range(groups)))
        finally:
            tiers.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rate", type=int, default=99, help="samples a second")
    arguments.add_argument("--groups", type=int, default=25, help="of four runs each")
    arguments.add_argument("--seconds", type=float, default=3.0, help="of each run")
    arguments.add_argument("--warm-up", type=float, default=60.0, help="seconds before")
    given = arguments.parse_args()
    if os.geteuid() != 0:
        sys.exit("network namespaces need root")
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed: apt-get install wrk")
    # Whoever ends this early leaves nothing behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    profile = Profile(rate=given.rate)
    check_profile(profile, "native", [])
    ratio = measure(profile, given.warm_up, given.groups, given.seconds)
    low, high = ratio.interval
    said = (
        f"throughput with a profile ({', '.join(events_of(profile))}, {given.rate} Hz, stacks):"
        f" {ratio.middle:.3f} of that without (95 % interval {low:.3f} to {high:.3f}, median of"
        f" {len(ratio.of_groups)} groups of four runs)"
    )
    print(said)
    sys.exit(None if ratio.middle >= LEAST_THROUGHPUT else 1)


if __name__ == "__main__":
    main()
