"""Measure the driver beside wrk, k6 and Locust in one run, and say whether it holds its bars.

    python bench/drive/run.py [--quick] [--repeat N]

One core has the server (nginx, one file of 8 KiB), another the tool. Every request has a
connection of its own. CPU and memory are the kernel's figures for the whole process, starting up
included; the driver's also include writing the table of all requests, which the others do not
have. Exit status 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from server import serving
from tools import K6, Load, Locust, Result, Tierlab, Tool, Wrk, summary

CONCURRENCY = 32
"""Users without think time, where cost per request is compared."""
MIB = 1 << 20
THINK_S = 7.0


@dataclass(frozen=True)
class Bar:
    """What was measured, beside what it may be at most."""

    what: str
    measured: float
    most: float
    unit: str

    @property
    def held(self) -> bool:
        return self.measured <= self.most


class Bench:
    """Runs tools in fresh folders against one server."""

    def __init__(self, port: int, folder: Path) -> None:
        self._port = port
        self._folder = folder
        self._runs = 0

    def drive(self, tool: Tool, load: Load) -> Result:
        self._runs += 1
        folder = self._folder / f"{self._runs}-{tool.name}"
        folder.mkdir()
        result = tool.drive(self._port, load, core=_cores()[-1], folder=folder)
        console.print(
            f"  {tool.name:8} {load.users:>7,} users, think {load.think_s:g} s: "
            f"{result.requests:>9,} requests, {result.cpu_us:6.1f} µs CPU each "
            f"({result.user_us:.1f} outside the kernel), {result.cost.memory / MIB:7.1f} MiB"
        )
        return result


def _cores() -> list[int]:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise SystemExit("bench/drive needs two cores, one for the server and one for the tool")
    return cores


def cost(bench: Bench, tools: list[Tool], seconds: float, repeat: int) -> list[Bar]:
    """CPU per request, in turns, so that what disturbs one disturbs all.

    wrk's is beside tierlab's throughout: it does nothing but connect, send and receive, so that its
    CPU is the kernel's work for a connection, which no client has without.
    """
    console.print("[bold]CPU per request, a new connection each")
    load = Load(CONCURRENCY, seconds)
    rounds = [{tool.name: bench.drive(tool, load) for tool in tools} for _ in range(repeat)]

    def ratio(peer: str, of: str = "tierlab") -> float:
        return statistics.median(it[of].cpu_us / it[peer].cpu_us for it in rounds)

    table = Table(
        *("tool", "CPU per request, µs", "outside the kernel, µs"),
        *("tierlab's is ... of it", "wrk's is ... of it"),
    )
    for name in rounds[0]:
        cpu_us = statistics.median(it[name].cpu_us for it in rounds)
        user_us = statistics.median(it[name].user_us for it in rounds)
        ratios = f"{ratio(name):.3f}", f"{ratio(name, 'wrk'):.3f}"
        table.add_row(name, f"{cpu_us:.1f}", f"{user_us:.1f}", *ratios)
    console.print(table)
    return [
        Bar("CPU per request, of wrk's", ratio("wrk"), 1.5, "times"),
        Bar("CPU per request, of k6's", ratio("k6"), 0.25, "times"),
        Bar("CPU per request, of Locust's", ratio("locust"), 0.25, "times"),
    ]


def memory(bench: Bench, peers: dict[Tool, int], seconds: float) -> None:
    """Memory for each further user who mostly thinks."""
    console.print("[bold]Memory per user")
    table = Table("tool", "users", "KiB per user")
    for tool, users in peers.items():
        ramp = 0.0 if tool.name != "tierlab" else seconds / 2
        few = bench.drive(tool, Load(10, seconds, THINK_S, ramp))
        many = bench.drive(tool, Load(users, seconds, THINK_S, ramp))
        each = (many.cost.memory - few.cost.memory) / (users - 10)
        table.add_row(tool.name, f"{users:,}", f"{each / 1024:.2f}")
    console.print(table)


def size(bench: Bench, load: Load, most_memory: int, repeat: int) -> list[Bar]:
    """So many users, who mostly think. Lag is the median of a few runs': of the requests of five
    seconds, those of one stall of the machine of 50 ms are one in a hundred.
    """
    console.print(f"[bold]{load.users:,} users")
    runs = [sized(bench, load) for _ in range(repeat)]
    memory, lag_ms, errors, missing = zip(*runs, strict=True)
    name = f"{load.users:,} users:"
    return [
        Bar(f"{name} memory", max(memory) / MIB, most_memory / MIB, "MiB"),
        Bar(f"{name} lag p99", statistics.median(lag_ms), 5.0, "ms"),
        Bar(f"{name} errors", sum(errors), 0, ""),
        Bar(f"{name} requests missing", max(missing), 0.05, "share"),
    ]


def sized(bench: Bench, load: Load) -> tuple[float, float, float, float]:
    """One run: bytes, lag at the 99th percentile in ms, errors, share of requests missing."""
    result = bench.drive(Tierlab(), load)
    said = summary(result.cost)
    rate = load.users / load.think_s
    console.print(
        f"  asked for {rate:,.0f} requests/s; lag p50 {said['lag_p50_ns'] / 1e6:.2f} ms, "
        f"p99 {said['lag_p99_ns'] / 1e6:.2f} ms, worst {said['lag_max_ns'] / 1e6:.1f} ms; "
        f"{said['cpu_share']:.0%} of a core (busiest second "
        f"{said['busiest_second_cpu_share']:.0%}); {said['errors']:,} errors; "
        f"bottleneck: {said['why'] or 'no'}"
    )
    if result.cost.waited_s > 0.02 * (load.ramp_s + load.seconds):
        console.print(
            f"  [yellow]other work had the driver's core for {result.cost.waited_s:.1f} s in which "
            "it wanted to run: its lag is theirs too, so repeat this on an idle machine"
        )
    # Each user asks once when it comes, then at the rate; they come evenly during the ramp.
    expected = load.users + rate * (load.seconds + load.ramp_s / 2)
    missing = max(0.0, 1 - result.requests / expected)
    return result.cost.memory, said["lag_p99_ns"] / 1e6, said["errors"], missing


def main() -> None:
    """Run all parts; `--quick` for a look of about three minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs, the largest once")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    seconds, repeat = (3.0 if options.quick else 10.0), options.repeat
    runtime = 5.0 if options.quick else 30.0
    tierlab, k6, locust = Tierlab(), K6(), Locust()
    with (
        tempfile.TemporaryDirectory(prefix="tierlab-bench-") as name,
        serving(Path(name), core=_cores()[0]) as port,
    ):
        bench = Bench(port, Path(name))
        bars = cost(bench, [tierlab, Wrk(), k6, locust], seconds, repeat)
        memory(bench, {tierlab: 35_000, k6: 1_000, locust: 1_000}, seconds)
        many = Load(35_000, runtime, THINK_S, ramp_s=2 * THINK_S)
        bars += size(bench, many, 200 * MIB, repeat)
        think, ramp = (120.0, 30.0) if options.quick else (60.0, 60.0)
        bars += size(bench, Load(200_000, runtime, think, ramp), 1024 * MIB, 1)
    table = Table("bar", "measured", "at most", "")
    for bar in bars:
        verdict = "holds" if bar.held else "MISSED"
        table.add_row(bar.what, f"{bar.measured:,.2f} {bar.unit}", f"{bar.most:,.2f}", verdict)
    console.print(table)
    if not all(bar.held for bar in bars):
        raise SystemExit(1)


console = Console(width=110, highlight=False)

if __name__ == "__main__":
    main()
