"""What visits waited for: bars for the page, and a sentence for page and terminal."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tierlab.analysis.queues.loop_threads import STATES, LoopThreads
from tierlab.analysis.queues.waits import PARTS, Part, ServerWaits, Waiting
from tierlab.analysis.summary import Summary
from tierlab.report.figures import count, seconds, share

NAMES: Final = {name: name for name in (*PARTS, *STATES)} | {"cpu": "on CPU"}
"""What each part of a visit, and each state of a thread, is called."""

CHARACTER: Final = 0.011
"""The share of a bar that a character of its label takes on a page of 800 pixels."""

LEAST_SEEN: Final = 0.001
"""A part with a smaller share is in the table, and neither in a bar nor in the legend."""

TOLD: Final = 4
"""The sentence has so many parts at most, each of 1 % and more."""

NEARLY_ALL: Final = 0.95
"""Where a smaller share of the visits has parts, the share is shown."""

Which = Literal["all", "slowest"]


@dataclass(frozen=True)
class Segment:
    """A part in a bar: its width in percent, and its label where that has room."""

    name: str
    width: float
    label: str
    title: str


@dataclass(frozen=True)
class Bar:
    """A server's bar, or a sentence where it has none. ``words`` say the same without eyes."""

    server: str
    segments: list[Segment]
    figure: str
    note: str
    words: str


@dataclass(frozen=True)
class Bars:
    """The bars of all servers from the users on, with the parts that occur in them."""

    bars: list[Bar]
    legend: list[tuple[str, str]]


def bars(summary: Summary, which: Which = "all") -> Bars | None:
    """Return the servers' bars; None where no server has one."""
    if all(each.all is None and each.loops is None for each in summary.waits):
        return None
    shown = summary.waits
    if which == "slowest":
        shown = [each for each in shown if each.slowest is not None]
    drawn = [_bar(each, which) for each in shown]
    seen = {segment.name for bar in drawn for segment in bar.segments}
    return Bars(drawn, [(name, words) for name, words in NAMES.items() if name in seen])


def none_measured(summary: Summary) -> str:
    """Say why no visit has parts; empty where some have, or no visit was traced."""
    if not summary.waits or bars(summary) is not None:
        return ""
    servers: dict[str, list[str]] = {}
    for each in summary.waits:
        if each.why:
            servers.setdefault(each.why, []).append(each.server)
    reasons = list(servers)
    if len(reasons) > 1:
        reasons = [f"{why} ({', '.join(names)})" for why, names in servers.items()]
    return f"What visits waited for was not measured: {'; '.join(reasons)}."


def sentence(summary: Summary) -> str:
    """Say what visits waited for in the tier with the largest share of the time, of those whose
    visits have parts: at its server with the most time. Empty where none has.
    """
    tier_of = {each.name: each.tier for each in summary.servers}
    tiers = summary.time.tiers if summary.time is not None else []
    shares = {each.tier: each.share for each in tiers}
    found = [(each, each.all) for each in summary.waits if each.all is not None]
    if not found:
        return next(map(_of_loops, filter(_has_loops, summary.waits)), "")
    server, waiting = max(
        found,
        key=lambda pair: (
            shares.get(tier_of.get(pair[0].server, ""), 0.0),
            pair[1].visits * pair[1].mean_s,
        ),
    )
    parts = sorted(waiting.parts, key=lambda part: -(part.share or 0.0))
    told = [_told(part, server.callees, tier_of) for part in parts[:TOLD] if _share(part) >= 0.01]
    if not told:
        return ""
    note = _of_measured(server)
    return f"Time at {server.server}: {', '.join(told)}{f' ({note})' if note else ''}."


def _of_measured(server: ServerWaits) -> str:
    measured = server.measured_share or 0.0
    return "" if measured >= NEARLY_ALL else f"{share(measured)} of visits measured"


def _told(part: Part, callees: Sequence[str], tier_of: dict[str, str]) -> str:
    words = NAMES[part.name]
    if part.name == "calls":
        words = f"waiting for {_called(callees, tier_of)}"
    return f"{share(_share(part))} {words}"


def _called(callees: Sequence[str], tier_of: dict[str, str]) -> str:
    """Name the servers that are called; several of one tier by the tier's name."""
    tiers: dict[str, list[str]] = {}
    for each in callees:
        tiers.setdefault(tier_of.get(each, each), []).append(each)
    names = [servers[0] if len(servers) == 1 else tier for tier, servers in sorted(tiers.items())]
    return " and ".join(names) or "calls"


def _bar(server: ServerWaits, which: Which) -> Bar:
    waiting = server.all if which == "all" else server.slowest
    if waiting is None and server.loops is not None:
        return _loops_bar(server.server, server.loops)
    if waiting is None:
        note = f"Not measured: {server.why}."
        return Bar(server.server, [], "", note, f"{server.server}: {note}")
    segments = [segment(each) for each in waiting.parts if _share(each) >= LEAST_SEEN]
    figure = f"{seconds(waiting.mean_s)} mean"
    note = _of_measured(server) if which == "all" else ""
    words = f"{server.server}, {_whose(waiting, which)}, {figure}: {_listed(segments)}"
    return Bar(server.server, segments, figure, note, words)


def _loops_bar(server: str, loops: LoopThreads) -> Bar:
    """What the threads did, as no visit had one to itself."""
    segments = [
        segment(Part(name=each.name, mean_s=None, share=each.share))
        for each in loops.states
        if each.share >= LEAST_SEEN
    ]
    figure = "its thread" if loops.threads == 1 else f"its {count(loops.threads)} threads"
    note = "each with several requests at once"
    words = f"{server}, {figure}, {note}: {_listed(segments)}"
    return Bar(server, segments, figure, note, words)


def _has_loops(server: ServerWaits) -> bool:
    return server.all is None and server.loops is not None


def _of_loops(server: ServerWaits) -> str:
    """Say what they did, where no server's visits have parts."""
    assert server.loops is not None
    is_one = server.loops.threads == 1
    whose = f"{server.server}'s " + ("thread, which has" if is_one else "threads, which each have")
    states = sorted(server.loops.states, key=lambda each: -each.share)
    told = [f"{share(each.share)} {NAMES[each.name]}" for each in states if each.share >= 0.01]
    return f"Time of {whose} several requests at once: {', '.join(told)}."


def _whose(waiting: Waiting, which: Which) -> str:
    return f"{count(waiting.visits)} {'visits' if which == 'all' else 'slowest visits'}"


def _listed(segments: Iterable[Segment]) -> str:
    return ", ".join(each.title for each in segments)


def segment(part: Part) -> Segment:
    """Return a part's place in a bar as wide as the page."""
    name = NAMES[part.name]
    text = f"{name} {share(_share(part))}"
    fits = (each for each in (text, name) if len(each) * CHARACTER <= _share(part))
    title = text if part.mean_s is None else f"{text}, {seconds(part.mean_s)} mean"
    return Segment(part.name, round(100 * _share(part), 3), next(fits, ""), title)


def _share(part: Part) -> float:
    return part.share or 0.0
