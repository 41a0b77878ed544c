"""What differs between groups of trials, on the terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tierlab.analysis.comparing.changes import Change
from tierlab.analysis.comparing.compare import Difference
from tierlab.analysis.comparing.instability import Instability
from tierlab.analysis.requests.migration import Migration
from tierlab.report.figures import amount, number, printable, seconds

ORDER = ("first", "second")
SINGLE = "No group has repetitions; factors.repeat makes them."
UNKNOWN = (
    "By how much alike trials differ on this machine is not known, so no difference is claimed:"
    " repeat each trial once at least (factors.repeat = 2), or keep other repeated trials under the"
    " same load in the same folder of runs."
)
STYLES = {"better": "green", "worse": "bold yellow", "within noise": "dim", "not known": "dim"}


def show(
    names: tuple[str, str],
    found: Sequence[Difference],
    notes: Sequence[str | None],
    console: Console,
) -> None:
    """Print one table: each measure in both groups, the difference with its interval, a verdict;
    and the ``notes`` that the reader is to see beside it.
    """
    title = "\n".join(f"{which}: {printable(n)}" for which, n in zip(ORDER, names, strict=True))
    if pairs := {each.pairs for each in found if each.pairs is not None}:
        title += f"\nmade in turns: {max(pairs)} pairs of neighbours in time are compared"
    table = Table(
        title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), header_style="dim"
    )
    table.add_column("measure")
    for heading in (*ORDER, "change, % [95 %]"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for each in found:
        table.add_row(
            Text(each.measure),
            value(each.first, each.unit),
            value(each.second, each.unit),
            interval(each),
            Text(each.verdict, style=STYLES[each.verdict]),
        )
    console.print(table)
    console.print(Text(verdict(names, found)), soft_wrap=True)
    for note in notes:
        if note is not None:
            console.print(Text(printable(note), style="yellow"), soft_wrap=True)


def verdict(names: tuple[str, str], found: Sequence[Difference]) -> str:
    """Say in one sentence what differs."""
    claimed = _claimed(found)
    if not claimed and all(each.verdict == "not known" for each in found):
        return f"Whether {names[1]} differs from {names[0]} is not known."
    if not claimed:
        said = f"No difference of {names[1]} to {names[0]} is shown: all is within noise"
        return f"{said}{_held(found)}."
    what = [f"{each.measure} is {each.verdict} by {_by(each)}" for each in claimed]
    return f"{names[1]} against {names[0]}: {'; '.join(what)}."


def lacks(found: Sequence[Difference], least: float) -> str | None:
    """Say in one sentence what keeps the trials from telling the least difference: of the measure
    that tells it with the fewest of them. None where they tell it.
    """
    ratios = [each for each in found if not each.absolute]
    if all(each.low is None for each in ratios):
        return UNKNOWN
    counted = [each for each in ratios if each.repetitions is not None]
    if not counted:
        return None
    best = min(counted, key=lambda each: each.repetitions or 0)
    if best.low is None or best.high is None:
        return None
    reach = (best.high - best.low) / 2 / (1 + best.change)
    if reach <= least:
        return None
    return (
        f"These trials tell {best.measure} to {reach:.1%} either way;"
        f" {best.repetitions} of each (factors.repeat) would do for {least:.0%}."
    )


def _claimed(found: Sequence[Difference]) -> list[Difference]:
    return [each for each in found if each.verdict in {"better", "worse"}]


def _held(found: Sequence[Difference]) -> str:
    """Where the difference may still lie, in the measure that stands first."""
    first = found[0] if found else None
    if first is None or first.low is None or first.high is None or first.absolute:
        return ""
    return f"; {first.measure} is {_signed(first.low)} to {_signed(first.high)} % at 95 %"


def change_words(change: Change) -> str:
    """Say what was changed, and what that did."""
    what = ", ".join(f"{name} {_plain(name, value)}" for name, value in change.asked.items())
    said = f"{change.at_s:.1f} s: {change.subject} got {what}"
    if change.together:
        said = f"{said}, together with changes of {', '.join(change.together)}"
    if change.migration is not None:
        said = f"{said}; {migration_words(change.migration)}"
    if change.differences is None:
        return f"{said}; {change.why}."
    claimed = _claimed(change.differences)
    did = "; ".join(f"{each.measure} {each.verdict} by {_by(each)}" for each in claimed)
    return f"{said}: {did or 'no difference is shown'}."


def migration_words(move: Migration) -> str:
    """Say how long a server was away, and what became of the requests."""
    stood = "" if move.downtime_s is None else f", stood still for {seconds(move.downtime_s)}"
    said = (
        f"it moved within {seconds(move.took_s)}{stood}"
        f" and answered no echo for {seconds(move.silence_s)}"
        f" (before, {seconds(move.usual_silence_s)} at most)"
    )
    lost = "no request in progress then"
    if move.slowest_s is not None:
        lost = (
            f"{move.lost or 'none'} of {move.in_progress} requests in progress then lost, the"
            f" slowest took {seconds(move.slowest_s)}"
        )
    return f"{said}; {lost}; {move.lost_beyond or 'none'} lost beyond that"


def _plain(name: str, value: object) -> str:
    if name == "memory" and isinstance(value, int):
        return amount(value, "B")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def show_instability(names: Sequence[str], found: Sequence[Instability], console: Console) -> None:
    """Print how much repeating changed each group's throughput, or that nothing was repeated."""
    repeated = [(n, each) for n, each in zip(names, found, strict=True) if each.adin is not None]
    if not repeated:
        console.print(Text(SINGLE), soft_wrap=True)
        return
    table = Table(title="throughput over repetitions", title_justify="left")
    for heading in ("group", "trials", "mean, requests/s", "ADIN", "MMR"):
        table.add_column(heading, overflow="fold")
    for name, each in repeated:
        mmr = "none" if each.mmr is None else f"{each.mmr:.2f}/1"
        figures = (number(each.mean), number(each.adin or 0.0), mmr)
        table.add_row(printable(name), str(each.trials), *figures)
    console.print(table)


def value(value: float, unit: str) -> str:
    """Write a figure with its unit; seconds in the unit that suits them."""
    return seconds(value) if unit == "s" else amount(value, unit)


def interval(each: Difference) -> str:
    """Write a change with its interval, in per cent or points."""
    if each.low is None or each.high is None:
        return f"{_signed(each.change)} [too little seen]"
    return f"{_signed(each.change)} [{_signed(each.low)}, {_signed(each.high)}]"


def _by(each: Difference) -> str:
    return f"{_signed(each.change)[1:]} {'points' if each.absolute else '%'}"


def _signed(relative: float) -> str:
    """Per cent (or percentage points), as exactly as it matters.

    >>> _signed(0.0314), _signed(-0.31), _signed(12.4)
    ('+3.1', '-31', '+1,240')
    """
    return f"{relative * 100:+.1f}" if abs(relative) < 0.1 else f"{relative * 100:+,.0f}"
