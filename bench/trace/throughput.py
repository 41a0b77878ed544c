"""RUBBoS's throughput with tracing off and on, in turns."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from four_tiers import WEB, FourTiers

SCALE = 0.005
PAGE = "http://{}:{}/rubbos/servlet/ViewStory?storyId=5".format(*WEB)
CONNECTIONS = 16
RESAMPLES = 10_000


@dataclass(frozen=True)
class Ratio:
    """Throughput with tracing over that without, of each group of four runs."""

    of_groups: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.of_groups)

    @property
    def interval(self) -> tuple[float, float]:
        """The median's 95 % interval by the percentile bootstrap (Efron and Tibshirani, 1993)."""
        random = np.random.default_rng(1)
        drawn = random.choice(self.of_groups, (RESAMPLES, len(self.of_groups)))
        low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
        return float(low), float(high)


def measure(warm_up: float, groups: int, seconds: float) -> Ratio:
    """Bring the system up, warm it up, and run off-on-on-off, on-off-off-on, and so on."""
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as folder:
        tiers = FourTiers(f"tierlab-bench-trace-{os.getpid()}", SCALE, Path(folder))
        try:
            tiers.start()
            settle(tiers, warm_up)
            return Ratio(tuple(group(tiers, number, seconds) for number in range(groups)))
        finally:
            tiers.stop()


def settle(tiers: FourTiers, seconds: float) -> None:
    """Warm up what the runs use: the servers, and the tracer's path through the kernel."""
    load(tiers, seconds)
    with tiers.capturing("warm-up"):
        load(tiers, 1)


def group(tiers: FourTiers, number: int, seconds: float) -> float:
    """Four runs in an order that a drift favours neither way (ABBA); returns on over off."""
    reached: dict[bool, list[float]] = {False: [], True: []}
    summaries: list[dict[str, Any]] = []
    order = (False, True, True, False) if number % 2 == 0 else (True, False, False, True)
    for turn, traced in enumerate(order):
        if not traced:
            reached[False].append(load(tiers, seconds))
            continue
        with tiers.capturing(f"{number}-{turn}") as summary:
            reached[True].append(load(tiers, seconds))
        summaries.append(summary)
    ratio = sum(reached[True]) / sum(reached[False])
    print(describe(reached, ratio, summaries, seconds), flush=True)
    return ratio


def describe(
    reached: dict[bool, list[float]],
    ratio: float,
    summaries: Sequence[dict[str, Any]],
    seconds: float,
) -> str:
    packets, drops, cpu_ns = (
        sum(summary[key] for summary in summaries) for key in ("packets", "drops", "cpu_ns")
    )
    traced_s = seconds * len(summaries)
    return (
        f"{np.mean(reached[False]):.0f} requests/s without tracing, "
        f"{np.mean(reached[True]):.0f} with: {ratio:.3f} "
        f"({packets / traced_s:,.0f} packets/s, {drops} dropped, "
        f"{cpu_ns / packets:.0f} ns CPU a packet, {cpu_ns / traced_s / 1e7:.1f} % of a core)"
    )


def load(tiers: FourTiers, seconds: float) -> float:
    """Requests a second over kept-alive connections, all that the machine can."""
    said = tiers.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:.0f}s", PAGE])
    found = re.search(r"Requests/sec:\s*([\d.]+)", said)
    assert found is not None, said
    return float(found.group(1))
