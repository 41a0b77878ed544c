"""The charts of requests and visits: how long, how many, how many at once, and how late sent.

Of what a run did not record there is none.
"""

import numpy as np

from tierlab.analysis.observed import Observed
from tierlab.analysis.queues.visit_time import visit_times
from tierlab.analysis.requests.driver import lag_over_time
from tierlab.analysis.requests.load_course import LoadCourse, load_courses
from tierlab.analysis.requests.point_in_time import point_in_time
from tierlab.analysis.summary import Summary
from tierlab.report.colours import series, server_styles, tier_colours
from tierlab.report.lines import Axis
from tierlab.report.panel import Panel, reading

_SECOND_NS = 1_000_000_000


def response(observed: Observed, axis: Axis) -> list[Panel]:
    """Return the point-in-time response time."""
    if not observed.run.has("requests"):
        return []
    fine = point_in_time(observed.db, axis.whole)
    line = axis.line("response time", series(0), fine.middle_ns, fine.mean_s * 1e3)
    about = "mean of the requests that end in each 50 ms; the line bridges windows without any"
    title = "Point-in-time response time"
    return [Panel("response", title, about, "ms", [line], reading([line], "ms"))]


def visit_time(observed: Observed, axis: Axis, summary: Summary) -> list[Panel]:
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


def throughput(observed: Observed, axis: Axis) -> list[Panel]:
    """Return the requests that end in each second."""
    if not observed.run.has("requests"):
        return []
    coarse = point_in_time(observed.db, axis.whole, _SECOND_NS)
    line = axis.line("throughput", series(1), coarse.middle_ns, coarse.ended.astype(np.float64))
    about = "requests that end in each second"
    return [Panel("throughput", "Throughput", about, "/s", [line], reading([line], "/s"))]


def load(observed: Observed, axis: Axis) -> list[Panel]:
    """Return the load that was asked for and the one that there was, where it follows a shape."""
    courses = load_courses(observed.db, axis.whole, observed.run.manifest)
    return [_load(course, axis) for course in courses]


def _load(course: LoadCourse, axis: Axis) -> Panel:
    unit = " users" if course.is_closed else "/s"
    lines = [
        axis.line("asked for", series(0), course.asked_ns, course.asked),
        axis.line("reached", series(1), course.reached_ns, course.reached),
    ]
    about = (
        "users that the shape asks for, and those who are there at the end of each second"
        if course.is_closed
        else "requests that the shape asks for, and those that began in each second"
    )
    key, title = "-".join(filter(None, ("load", course.system))), "Load asked for and reached"
    if course.system:
        title += f" of {course.system}"
    return Panel(key, title, about, unit.strip(), lines, reading(lines, unit.strip()))


def driver(observed: Observed, axis: Axis) -> list[Panel]:
    """Return by how much the driver was late."""
    if not observed.run.has("requests"):
        return []
    middle_ns, lag = lag_over_time(observed.db, axis.whole, _SECOND_NS)
    line = axis.line("lag", series(5), middle_ns, lag * 1e3)
    about = "the longest of each second, from when a user meant to send to the actual send"
    return [Panel("driver", "Driver's lag", about, "ms", [line], reading([line], "ms"))]


def queues(observed: Observed, axis: Axis, summary: Summary) -> list[Panel]:
    """Return one panel a tier, from the users on: a push-back wave is seen climbing."""
    lengths, styles = observed.queue_lengths, server_styles(summary)
    parts = observed.run.manifest.servers
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
        workers = [parts[each.name].workers for each in mine if each.name in parts]
        limit = next((count for count in workers if count), None)
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
