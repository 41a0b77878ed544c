"""Profiles on the terminal, in the form of `opreport`, and their flame graphs for the page."""

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tierlab.analysis.observed import Observed
from tierlab.analysis.resources.event_rates import CLOCKS
from tierlab.analysis.resources.flame import Node, flame
from tierlab.analysis.resources.profile import EventProfile, ProfileLine
from tierlab.analysis.resources.profile_difference import FunctionDifference, ProfileDifference
from tierlab.report.figures import count, number, printable, seconds, share

COUNTED_BY = {"pmu": "the processor", "software": "the kernel", "simulated": "a model"}
UNKNOWN = "(unknown)"


def show(events: Sequence[EventProfile], console: Console) -> None:
    """Print each event's domains, each with its heaviest binaries and functions."""
    for event in events:
        console.print(Text(heading(event), style="bold"))
        for each in event.domains:
            head = f"{each.domain}: {share(each.share)} of all, {amount(each.samples, each.count)}"
            console.print(Text(f"\n{printable(head)}"))
            console.print(_table(each.binaries, functions=False))
            console.print(_table(each.symbols, functions=True))
        console.print()


def show_differences(
    names: tuple[str, str], found: Sequence[ProfileDifference], console: Console
) -> None:
    """Print which functions took more or less for a request, event by event."""
    for event in found:
        by = COUNTED_BY.get(event.source, event.source)
        console.print(Text(f"{event.event} a request, counted by {by}", style="bold"))
        table = Table(box=None, pad_edge=False, header_style="", padding=(0, 2, 0, 0))
        for name in (*map(printable, names), "change"):
            table.add_column(name, justify="right", overflow="fold")
        for name in ("domain", "binary", "symbol"):
            table.add_column(name, overflow="fold")
        table.add_row(*difference_figures(event, event.event), Text("all"))
        for each in event.functions:
            where = (each.domain, binary_name(each.binary), each.symbol or UNKNOWN)
            figures = difference_figures(each, event.event)
            table.add_row(*figures, *(Text(printable(word)) for word in where))
        console.print(table)
        console.print()


def trial_name(run: Path) -> str:
    """A run's folder and its experiment's, which tell it apart."""
    return "/".join(run.resolve().parts[-2:])


def difference_figures(each: ProfileDifference | FunctionDifference, event: str) -> list[str]:
    """Write both runs' events a request, and the difference: time as such."""
    change = each.second - each.first
    values = (each.first, each.second, abs(change))
    is_time = event in CLOCKS
    words = [seconds(value / 1e9) if is_time else number(value) for value in values]
    return [*words[:2], ("+" if change >= 0 else "-") + words[2]]


def heading(event: EventProfile) -> str:
    """Say what was counted, and by whom."""
    by = COUNTED_BY.get(event.source, event.source)
    return f"{event.event}, counted by {by}: {amount(event.samples, event.count)}"


def amount(samples: int | None, events: int) -> str:
    """Write samples; events where they were counted one by one."""
    return f"{count(events)} events" if samples is None else f"{count(samples)} samples"


def binary_name(binary: str | None) -> str:
    """Write a binary without its folder."""
    return UNKNOWN if binary is None else PurePath(binary).name or binary


def _table(lines: Sequence[ProfileLine], *, functions: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="", padding=(0, 2, 0, 0))
    table.add_column("samples", justify="right")
    table.add_column("%", justify="right")
    table.add_column("binary", no_wrap=True)
    if functions:
        table.add_column("symbol", overflow="fold")
    for each in lines:
        number = each.count if each.samples is None else each.samples
        cells = [str(number), f"{each.share * 100:.4g}", printable(binary_name(each.binary))]
        if functions:
            cells.append(printable(each.symbol or UNKNOWN))
        table.add_row(*map(Text, cells))
    return table


def flames(observed: Observed, events: Sequence[EventProfile]) -> list[dict[str, Any]]:
    """Return the flame graph of each event of which there are stacks, as the page's script draws
    it: names, the place of each one's parent among them (-1: none) and events.
    """
    found = []
    for place, each in enumerate(events):
        tree = None
        if observed.measured is not None:
            tree = flame(observed.db, observed.measured, each.event, each.source)
        if tree is not None:
            found.append({"event": place, "deep": _depth(tree), **_laid(tree)})
    return found


def _laid(root: Node) -> dict[str, list[Any]]:
    names: list[str] = []
    parents: list[int] = []
    counts: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting += [(child, len(names)) for child in node.children.values()]
        names.append(node.name)
        parents.append(parent)
        counts.append(node.count)
    return {"names": names, "parents": parents, "counts": counts}


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.children.values()), default=0)
