"""The charts of resources: which metrics are in each, in which order."""

from dataclasses import dataclass

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.resources.metrics import Metric, metric
from tierlab.analysis.resources.resources import Timeline, timelines
from tierlab.analysis.summary import Summary
from tierlab.report.colours import series, server_styles
from tierlab.report.lines import Axis, highest
from tierlab.report.panel import Panel, reading


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


def resources(observed: Observed, axis: Axis, summary: Summary) -> tuple[list[Panel], list[str]]:
    """Return those with something to see, and the titles of those that stayed at zero."""
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
    shown = highest(seen, lambda each: each[1], styles)
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
