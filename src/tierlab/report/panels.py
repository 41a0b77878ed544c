"""The charts over time: what is in each, in which order, and what they say without eyes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tierlab.analysis.driver import lag_over_time
from tierlab.analysis.episodes import episodes
from tierlab.analysis.metrics import Metric, metric
from tierlab.analysis.observed import Observed
from tierlab.analysis.point_in_time import point_in_time
from tierlab.analysis.resources import Timeline, timelines
from tierlab.analysis.span import Span
from tierlab.analysis.summary import Summary
from tierlab.analysis.visit_time import visit_times
from tierlab.diagnosis.finding import Finding, Window
from tierlab.report.colours import series, server_styles, tier_colours
from tierlab.report.figures import amount
from tierlab.report.lines import Axis, Line, moments

MOST_LINES = 8
ZOOMS = 3
_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class Panel:
    """One chart. ``about`` says what it shows, ``reading`` what is to be seen in it.

    ``orders`` asks for a logarithmic axis: its lines lie orders of magnitude apart.
    """

    key: str
    title: str
    about: str
    unit: str
    lines: list[Line]
    reading: str
    limit: tuple[float, str] | None = None
    orders: bool = False


@dataclass(frozen=True)
class Shade:
    """A stretch of time that all panels mark."""

    kind: str
    start: float
    end: float


@dataclass(frozen=True)
class Panels:
    """All charts over one time axis.

    ``zooms`` are moments worth a look: from, to, and how many very long requests began in it;
    ``found`` those of the findings: from, to, and what was found.
    ``quiet`` are the panels that stayed at zero and are not drawn.
    """

    start_ns: int
    seconds: float
    runtime: tuple[float, float]
    panels: list[Panel]
    shades: list[Shade]
    zooms: list[tuple[float, float, int]]
    found: list[tuple[float, float, str]]
    quiet: list[str]


@dataclass(frozen=True)
class _Kind:
    """A panel of resource metrics. One that ``may_be_quiet`` is left out while all is zero."""

    key: str
    title: str
    about: str
    metrics: tuple[tuple[str, str], ...]
    may_be_quiet: bool = True


_RESOURCES = (
    _Kind("cpu", "CPU by core", "busy share of each core", (("cpu", "busy"),), False),
    _Kind("server-cpu", "CPU by server", "cores used by each server", (("domain", "cpu"),), False),
    _Kind(
        "inside-cpu",
        "CPU as guests see it",
        "busy share of each virtual CPU, by the kernel inside its domain",
        (("inside_cpu", "busy"),),
    ),
    _Kind("iowait", "Waiting for disks", "iowait share of each core", (("cpu", "iowait"),)),
    _Kind("steal", "Stolen CPU", "share of each core that a hypervisor took", (("cpu", "steal"),)),
    _Kind("disk", "Disks", "busy share of each device", (("disk", "busy"),)),
    _Kind(
        "faults",
        "Major page faults",
        "faults that had to read from a disk, per second, of each server",
        (("domain", "major faults"),),
    ),
    _Kind("host-faults", "Page faults", "of the whole machine", (("memory", "major faults"),)),
    _Kind("memory", "Memory", "share of the machine's memory in use", (("memory", "used"),), False),
    _Kind(
        "accept",
        "Accept queues",
        "connections that wait to be accepted, of each server",
        (("listen", "accept queue"),),
    ),
    _Kind(
        "drops",
        "Drops and retransmissions",
        "connection requests dropped, and segments sent again, per tick",
        (
            ("tcp", "listen drops"),
            ("tcp", "SYN retransmissions"),
            ("tcp", "retransmissions"),
        ),
    ),
    _Kind("pressure", "Pressure", "share of time that some task waited", (("pressure", "some"),)),
    _Kind("net", "Network", "bytes in and out of each interface", (("net", "traffic"),)),
)


def panels(observed: Observed, summary: Summary, findings: list[Finding]) -> Panels | None:
    """Return all panels of a run, downstream below upstream; None when nothing was recorded.

    The windows of ``findings`` are shaded, drawn finely, and may be zoomed to.
    """
    if observed.whole is None or observed.measured is None:
        return None
    whole, measured = observed.whole, observed.measured
    slow = moments(summary.very_long, whole)
    found = [_around(finding.windows[0]) for finding in findings[:ZOOMS]]
    axis = Axis(whole, [span for span, _ in slow] + found)
    resources, quiet = _resources(observed, axis, summary)
    return Panels(
        start_ns=whole.start_ns,
        seconds=whole.seconds,
        runtime=(
            (measured.start_ns - whole.start_ns) / 1e9,
            (measured.end_ns - whole.start_ns) / 1e9,
        ),
        panels=[
            *_response(observed, axis),
            *_visit_times(observed, axis, summary),
            *_rate(observed, axis),
            *_queues(observed, axis, summary),
            *resources,
            *_driver(observed, axis),
        ],
        shades=[
            Shade(e.kind, (e.start_ns - whole.start_ns) / 1e9, (e.end_ns - whole.start_ns) / 1e9)
            for e in episodes(observed.db, whole)
        ]
        + [
            Shade("finding", (w.start_ns - whole.start_ns) / 1e9, (w.end_ns - whole.start_ns) / 1e9)
            for finding in findings
            for w in finding.windows
        ],
        zooms=[
            ((span.start_ns - whole.start_ns) / 1e9, (span.end_ns - whole.start_ns) / 1e9, count)
            for span, count in slow[:ZOOMS]
        ],
        found=[
            (
                (span.start_ns - whole.start_ns) / 1e9,
                (span.end_ns - whole.start_ns) / 1e9,
                f"{finding.cause} at {finding.subject}",
            )
            for span, finding in zip(found, findings, strict=False)
        ],
        quiet=quiet,
    )


def _around(window: Window) -> Span:
    """Return the stretch to zoom to: the window with as much before and after, 0.3 s at least."""
    margin = max(window.end_ns - window.start_ns, 300_000_000)
    return Span(window.start_ns - margin, window.end_ns + margin)


def reading(lines: Iterable[Line], unit: str) -> str:
    """Say each line's peak and when it was."""
    said, flat = [], []
    for line in lines:
        if np.isnan(line.value).all():
            continue
        top = int(np.nanargmax(line.value))
        peak = float(line.value[top])
        if peak == 0:
            flat.append(line.name)
        else:
            said.append(f"{line.name} peaks at {amount(peak, unit)} at {line.t[top]:.1f} s")
    if flat:
        said.append(f"{', '.join(flat)} at zero")
    return "; ".join(said) + "." if said else "No values."


def _response(observed: Observed, axis: Axis) -> list[Panel]:
    if not observed.run.has("requests"):
        return []
    fine = point_in_time(observed.db, axis.whole)
    line = axis.line("response time", series(0), fine.middle_ns, fine.mean_s * 1e3)
    about = "mean of the requests that end in each 50 ms; the line bridges windows without any"
    title = "Point-in-time response time"
    return [Panel("response", title, about, "ms", [line], reading([line], "ms"))]


def _visit_times(observed: Observed, axis: Axis, summary: Summary) -> list[Panel]:
    """Return one panel with a line a server, to compare them at each moment."""
    if not observed.run.has("visits"):
        return []
    times = visit_times(observed.db, axis.whole)
    lines = [
        axis.line(name, style, times.middle_ns, times.by_server[name] * 1e3)
        for name, style in server_styles(summary).items()
        if name in times.by_server
    ]
    if not lines:
        return []
    about = (
        "mean of the visits that leave each server in each 50 ms; "
        "logarithmic; lines bridge windows without any"
    )
    title, said = "Point-in-time visit time by server", reading(lines, "ms")
    return [Panel("visit", title, about, "ms", lines, said, orders=True)]


def _rate(observed: Observed, axis: Axis) -> list[Panel]:
    if not observed.run.has("requests"):
        return []
    coarse = point_in_time(observed.db, axis.whole, _SECOND_NS)
    line = axis.line("throughput", series(1), coarse.middle_ns, coarse.ended.astype(np.float64))
    about = "requests that end in each second"
    return [Panel("throughput", "Throughput", about, "/s", [line], reading([line], "/s"))]


def _driver(observed: Observed, axis: Axis) -> list[Panel]:
    if not observed.run.has("requests"):
        return []
    middle_ns, lag = lag_over_time(observed.db, axis.whole, _SECOND_NS)
    line = axis.line("lag", series(5), middle_ns, lag * 1e3)
    about = "the longest of each second, from when a user meant to send to the actual send"
    return [Panel("driver", "Driver's lag", about, "ms", [line], reading([line], "ms"))]


def _queues(observed: Observed, axis: Axis, summary: Summary) -> list[Panel]:
    """Return one panel a tier, from the users on: a push-back wave is seen climbing."""
    lengths, styles = observed.queue_lengths, server_styles(summary)
    if lengths is None:
        return []
    found = []
    for tier in tier_colours(summary):
        mine = [each for each in summary.servers if each.tier == tier]
        lines = [
            axis.line(each.name, styles[each.name], lengths.middle_ns, lengths.by_server[each.name])
            for each in mine
            if each.name in lengths.by_server
        ]
        if not lines:
            continue
        limit = next((each.soft["threads"] for each in mine if each.soft.get("threads")), None)
        peak = max(float(np.nanmax(line.value)) for line in lines)
        found.append(
            Panel(
                f"queue-{tier}",
                f"Queue at {tier}",
                "visits in progress, mean over each 50 ms window"
                + (f"; it has {limit} threads" if limit else ""),
                "",
                lines,
                reading(lines, ""),
                (float(limit), f"{limit} threads") if limit and peak > limit / 4 else None,
            )
        )
    return found


def _resources(observed: Observed, axis: Axis, summary: Summary) -> tuple[list[Panel], list[str]]:
    styles = server_styles(summary)
    found: list[Panel] = []
    quiet: list[str] = []
    for kind in _RESOURCES:
        chosen = [metric(*each) for each in kind.metrics]
        seen = [(m, line) for m in chosen for line in timelines(observed.db, axis.whole, m)]
        seen = [(m, line) for m, line in seen if not np.isnan(line.value).all()]
        if not seen:
            continue
        if kind.may_be_quiet and all(np.nanmax(line.value) == 0 for _, line in seen):
            quiet.append(kind.title)
            continue
        found.append(_resource_panel(kind, seen, styles, axis))
    return found, quiet


def _resource_panel(
    kind: _Kind,
    seen: list[tuple[Metric, Timeline]],
    styles: dict[str, tuple[str, str]],
    axis: Axis,
) -> Panel:
    several = len(kind.metrics) > 1
    shown = sorted(seen, key=lambda each: -float(np.nanmean(each[1].value)))[:MOST_LINES]
    order = {name: index for index, name in enumerate(styles)}
    shown.sort(key=lambda each: (order.get(each[1].subject, len(order)), each[1].subject))
    shown.sort(key=lambda each: kind.metrics.index((each[0].table, each[0].name)))
    lines = [
        axis.line(
            m.name if several else line.subject,
            styles.get(line.subject, series(index)),
            line.t_ns,
            line.value,
        )
        for index, (m, line) in enumerate(shown)
    ]
    left = len(seen) - len(shown)
    about = kind.about + (f"; the {len(shown)} highest of {len(seen)}" if left else "")
    unit = shown[0][0].unit
    return Panel(kind.key, kind.title, about, unit, lines, reading(lines, unit))
