"""Measure the driver beside wrk, k6 and Locust in one run, and say whether it holds its bars.

    python bench/drive/run.py [--quick] [--repeat N]

One core has the server (nginx, one file of 8 KiB), another the tool. Every request has a
connection of its own, but for those beside wrk on kept ones. What two cores make of the driver is
measured with the server on them too. CPU and memory are the kernel's figures for the whole process,
starting up included; the driver's also include writing the table of all requests, which the others
do not have. Exit status 1 when a bar is missed.
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
from scaling import million, scaling
from server import serving
from tools import K6, Load, Locust, Result, Tierlab, Tool, Wrk, summary

CONCURRENCY = 32
"""Users without think time, where cost per request is compared."""
K6_BAR = 0.4
"""Aimed at was 0.25. Reached were 0.24 to 0.36 on the machines tried, where wrk itself had 0.30 to
0.40: nineteen twentieths of the driver's CPU is the kernel's work for a connection, and how dear
that is moves the ratio. What is the driver's own is held against what is k6's own."""
KEPT_BAR = 2.0
"""wrk sends the same bytes again and looks at no reply but for its end; the driver draws what its
user does next, reads the page, writes a row."""
MIB = 1 << 20
THINK_S = 7.0


PARTS = ("cost", "kept", "cores", "memory", "million")


@dataclass(frozen=True)
class Bar:
    """What was measured, beside what it may be at most, or must be at least."""

    what: str
    measured: float
    bound: float
    unit: str
    least: bool = False

    @property
    def held(self) -> bool:
        return self.measured >= self.bound if self.least else self.measured <= self.bound


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
        result = tool.drive(self._port, load, cores=_cores()[-1:], folder=folder)
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

    def outside(peer: str) -> float:
        return statistics.median(it["tierlab"].user_us / it[peer].user_us for it in rounds)

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
        Bar("CPU per request, of k6's", ratio("k6"), K6_BAR, "times"),
        Bar("CPU per request, of Locust's", ratio("locust"), 0.25, "times"),
        Bar("CPU per request outside the kernel, of k6's", outside("k6"), 0.05, "times"),
    ]


def kept(bench: Bench, seconds: float, repeat: int) -> list[Bar]:
    """CPU per request beside wrk's where connections are kept."""
    console.print("[bold]CPU per request, on kept connections")
    load = Load(CONCURRENCY, seconds, kept=True)
    rounds = [[bench.drive(tool, load) for tool in (Tierlab(), Wrk())] for _ in range(repeat)]
    ratio = statistics.median(own.cpu_us / wrk.cpu_us for own, wrk in rounds)
    return [Bar("CPU per request on kept connections, of wrk's", ratio, KEPT_BAR, "times")]


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


def measure(parts: list[str], bench: Bench, options: argparse.Namespace) -> list[Bar]:
    """Run the parts that are asked for."""
    seconds, repeat = (3.0 if options.quick else 10.0), options.repeat
    runtime = 5.0 if options.quick else 30.0
    tierlab = Tierlab()
    bars: list[Bar] = []
    if "cost" in parts:
        bars += cost(bench, [tierlab, Wrk(), K6(), Locust()], seconds, repeat)
    if "kept" in parts:
        bars += kept(bench, seconds, repeat)
    if "cores" in parts:
        times = scaling(console, _cores()[:2], CONCURRENCY, seconds, repeat)
        bars.append(Bar("rate on two cores, of that on one", times, 1.8, "times", least=True))
    if "memory" in parts:
        memory(bench, {tierlab: 35_000, K6(): 1_000, Locust(): 1_000}, seconds)
        many = Load(35_000, runtime, THINK_S, ramp_s=2 * THINK_S)
        bars += size(bench, many, 200 * MIB, repeat)
        think, ramp = (120.0, 30.0) if options.quick else (60.0, 60.0)
        bars += size(bench, Load(200_000, runtime, think, ramp), 1024 * MIB, 1)
    if "million" in parts:
        load = Load(1_000_000, runtime, THINK_S, ramp_s=2 * THINK_S)
        used = million(console, _cores()[:2], load).cost.memory
        bars.append(Bar(f"{load.users:,} users: memory", used / MIB, 1024, "MiB"))
    return bars


def main() -> None:
    """Run all parts, or those named; `--quick` for a look of about four minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all unless said")
    parser.add_argument("--quick", action="store_true", help="short runs, the largest once")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    with (
        tempfile.TemporaryDirectory(prefix="tierlab-bench-") as name,
        serving(Path(name), _cores()[:1]) as port,
    ):
        bars = measure(options.parts or list(PARTS), Bench(port, Path(name)), options)
    table = Table("bar", "measured", "at most or least", "")
    for bar in bars:
        verdict = "holds" if bar.held else "MISSED"
        bound = f"{'at least' if bar.least else 'at most'} {bar.bound:,.2f}"
        table.add_row(bar.what, f"{bar.measured:,.2f} {bar.unit}", bound, verdict)
    console.print(table)
    if not all(bar.held for bar in bars):
        raise SystemExit(1)


console = Console(width=110, highlight=False)

if __name__ == "__main__":
    main()
