"""What a profile costs: RUBBoS's throughput with `perf record` at 99 samples a second and without.

    python bench/profile/perf.py [--counted [EVENT ...]] [--rate N] [--groups N] [--seconds N]
        [--warm-up N]

Off and on in turns (A B B A, B A A B, ...) on one system that stays up, all that the machine can,
so that neither a noisy machine nor servers that grow warmer favour the one or the other: in short
runs the machine changes little between them. One perf runs throughout and is told to record and to
stop, as in a trial it starts before the load and ends after it; so what its start takes (it reads
of every process what it has mapped) is not in the ratio. Stacks are recorded; Tomcat
keeps its frame pointers in all runs, so that what this alone costs is not in it either. Fails where
throughput is more than a hundredth below that without.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "trace"))

from four_tiers import FourTiers
from throughput import SCALE, Ratio, load

from tierlab.experiment.observe import Observe
from tierlab.observe import plans
from tierlab.observe.perf import Recorder
from tierlab.observe.profile_needs import check_profile, counted_of, events_of

LEAST_THROUGHPUT = 0.99


class Profiled:
    """A system, a perf that records of it when told to, and what is counted meanwhile."""

    def __init__(self, tiers: FourTiers, observe: Observe) -> None:
        assert observe.profile is not None
        self.tiers = tiers
        self._observe = observe
        self._counts = bool(counted_of(observe.profile))
        self._file = tiers.folder / "perf.data"
        log = self._file.with_suffix(".log")
        self._perf = Recorder(observe.profile, events_of(observe.profile), self._file, log)

    @contextmanager
    def started(self) -> Iterator[Self]:
        """Have perf there, not recording yet."""
        try:
            self._perf.start(self.tiers.spawn)
            self._perf.tell("disable")
            yield self
        finally:
            self._perf.stop()

    def load(self, seconds: float, name: str) -> float:
        """Requests a second while it records and counts as in a trial."""
        plan = plans.sample(self._observe, self.tiers.system.subjects())
        counting = self.tiers.running("sample", plan, name) if self._counts else nullcontext()
        with counting:
            self._perf.tell("enable")
            reached = load(self.tiers, seconds)
            self._perf.tell("disable")
        shutil.rmtree(self.tiers.folder / name, ignore_errors=True)
        return reached

    def recorded(self) -> int:
        """Bytes that perf has written."""
        return self._file.stat().st_size


def group(profiled: Profiled, number: int, seconds: float) -> float:
    """Four runs in an order that a drift favours neither way (ABBA); returns on over off."""
    reached: dict[bool, list[float]] = {False: [], True: []}
    order = (False, True, True, False) if number % 2 == 0 else (True, False, False, True)
    for turn, on in enumerate(order):
        of_turn = (
            profiled.load(seconds, f"{number}-{turn}") if on else load(profiled.tiers, seconds)
        )
        reached[on].append(of_turn)
    ratio = sum(reached[True]) / sum(reached[False])
    print(
        f"{sum(reached[False]) / 2:.0f} requests/s without a profile, {sum(reached[True]) / 2:.0f}"
        f" with: {ratio:.3f} (recorded so far: {profiled.recorded() / 1e6:.1f} MB)",
        flush=True,
    )
    return ratio


def measure(observe: Observe, warm_up: float, groups: int, seconds: float) -> Ratio:
    """Bring the system up, warm it up, and run the groups."""
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as folder:
        trial = f"tierlab-bench-profile-{os.getpid()}"
        tiers = FourTiers(trial, SCALE, Path(folder), stacks=True)
        try:
            tiers.start()
            load(tiers, warm_up)
            with Profiled(tiers, observe).started() as profiled:
                profiled.load(1, "warm-up")
                return Ratio(tuple(group(profiled, n, seconds) for n in range(groups)))
        finally:
            tiers.stop()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rate", type=int, default=99, help="samples a second")
    arguments.add_argument("--groups", type=int, default=75, help="of four runs each")
    arguments.add_argument("--seconds", type=float, default=1.0, help="of each run")
    arguments.add_argument("--warm-up", type=float, default=60.0, help="seconds before")
    arguments.add_argument(
        "--counted",
        metavar="EVENT",
        nargs="*",
        help="count these by core and server as well, or what is usually counted",
    )
    given = arguments.parse_args()
    if os.geteuid() != 0:
        sys.exit("network namespaces need root")
    if shutil.which("wrk") is None:
        sys.exit("wrk is not installed: apt-get install wrk")
    # Whoever ends this early leaves nothing behind either.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
    counting = [] if given.counted is None else given.counted or "usual"
    asked = {"rate": given.rate, "counted": counting}
    observe = Observe.model_validate({"interval": "50ms", "samplers": [], "profile": asked})
    profile = observe.profile
    assert profile is not None
    check_profile(profile, "native", [])
    counted = ", ".join(counted_of(profile)) or "nothing"
    ratio = measure(observe, given.warm_up, given.groups, given.seconds)
    low, high = ratio.interval
    said = (
        f"throughput with a profile ({', '.join(events_of(profile))}, {given.rate} Hz, stacks;"
        f" counted every 50 ms: {counted}): {ratio.middle:.3f} of that without (95 % interval"
        f" {low:.3f} to {high:.3f}, median of {len(ratio.of_groups)} groups of four runs)"
    )
    print(said)
    sys.exit(None if ratio.middle >= LEAST_THROUGHPUT else 1)


if __name__ == "__main__":
    main()
