"""What more cores and very many users make of the driver."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from rich.console import Console
from server import serving
from tools import Load, Result, Tierlab, ready_s, summary

SECOND = 1_000_000_000


def rate(cores: list[int], users: int, seconds: float) -> float:
    """Requests per second of the driver and the server together on so many cores: a thread and a
    worker of nginx for each.
    """
    load = Load(users * len(cores), seconds)
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as name:
        folder = Path(name)
        with serving(folder, cores) as port:
            result = Tierlab(threads=len(cores), priority="normal").drive(port, load, cores, folder)
    return result.requests / (summary(result.cost)["wall_ns"] / SECOND)


def scaling(console: Console, cores: list[int], users: int, seconds: float, repeat: int) -> float:
    """How many times the rate on one core is reached on two, in turns.

    On a machine of two cores the server needs its part of them. So it is given as many as the
    driver: one core carries a thread and a worker, two carry two of each. What the driver's threads
    would lose by each other is lost of the whole rate.
    """
    console.print("[bold]One core and two, a new connection each")
    ratios = []
    for _ in range(repeat):
        one, two = (rate(cores[:count], users, seconds) for count in (1, 2))
        ratios.append(two / one)
        console.print(
            f"  {one:8,.0f} requests/s on one core, {two:8,.0f} on two: {ratios[-1]:.2f} times"
        )
    return statistics.median(ratios)


def million(console: Console, cores: list[int], load: Load) -> Result:
    """Very many users, who ask for more than the cores carry: how much memory that takes, how long
    until they are there, what rate is reached, and what the driver says of itself.
    """
    console.print(f"[bold]{load.users:,} users, think {load.think_s:g} s")
    with tempfile.TemporaryDirectory(prefix="tierlab-bench-") as name:
        folder = Path(name)
        with serving(folder, cores) as port:
            result = Tierlab(threads=len(cores)).drive(port, load, cores, folder)
    said = summary(result.cost)
    console.print(
        f"  there after {ready_s(result.cost):.1f} s; {result.cost.memory / (1 << 20):,.0f} MiB; "
        f"asked for {load.users / load.think_s:,.0f} requests/s, reached "
        f"{result.requests / (said['wall_ns'] / SECOND):,.0f}; lag p50 "
        f"{said['lag_p50_ns'] / 1e9:.1f} s, p99 {said['lag_p99_ns'] / 1e9:.1f} s; "
        f"{said['errors']:,} errors {said['errors_by_name']}; bottleneck: {said['why'] or 'no'}"
    )
    return result
