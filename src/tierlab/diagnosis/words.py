"""The findings in words that a manager can read."""

from tierlab.diagnosis.finding import Delayed, Demand, Finding, Window
from tierlab.diagnosis.merge import Merged
from tierlab.diagnosis.near_capacity import NearCapacity

DEARER = 1.15
"""By stretches of ten seconds a request of RUBiS cost 0.87 to 1.13 times its usual CPU time."""

LONG_MS = 10_000
"""From here on lengths are told in seconds."""


def times(windows: list[Window]) -> str:
    """Say how often and for how long: ``three times for 310 to 420 ms``."""
    lengths = sorted(round(each.duration_s * 1e3) for each in windows)
    count = {1: "once", 2: "twice", 3: "three times"}.get(len(windows), f"{len(windows)} times")
    if lengths[-1] >= LONG_MS:
        least, most, unit = f"{lengths[0] / 1e3:.1f}", f"{lengths[-1] / 1e3:.1f}", "s"
    else:
        least, most, unit = f"{lengths[0]}", f"{lengths[-1]}", "ms"
    return f"{count} for {most if least == most else f'{least} to {most}'} {unit}"


def requests(found: Delayed | None) -> str:
    """Say whom it delayed."""
    if found is None or not found.count:
        return ""
    over = f"{found.very_long_from_s:.3g} s"
    slow = f", {found.very_long} of them to over {over}" if found.very_long else ""
    worst = f" (the slowest took {found.worst_s:.2f} s)" if found.worst_s is not None else ""
    return f" It delayed {found.count} requests{slow}{worst}."


def paragraph(findings: list[Finding]) -> str:
    """Say all findings, the one that delayed most first."""
    return " ".join(each.words for each in findings)


def nothing(full: NearCapacity | None) -> str:
    """Say that there is no finding and, if it was so, that there is little CPU time left."""
    words = "Nothing abnormal: no server kept requests waiting for longer than they usually take."
    if full is None:
        return words
    whose = f" of {', '.join(full.servers)}" if full.servers else ""
    return (
        f"{words} But there is little CPU time left: the CPUs{whose} were {full.busy:.0%} busy, "
        f"and all of them full for {full.full:.0%} of the time. Requests wait for CPUs then, as "
        "usual at this load, and longer at a slightly higher one."
    )


def said(found: Merged, who: Delayed | None, demand: Demand | None) -> str:
    """Say what happened where, how often, to whom."""
    winner = found.clearest.verdict.winner
    if winner is None or found.cause is None:
        what = "kept requests waiting, for no cause among those that are known"
    else:
        what = found.cause.happened(winner.context)
    sentence = f"{found.subject} {what}, {times(found.windows)}."
    if demand is not None:
        sentence = f"The system is overloaded: {sentence} {_why(demand)}{_carried(demand)}"
    return f"{sentence}{requests(who)}"


def _why(demand: Demand) -> str:
    if demand.kind == "cold start" and demand.cost_s and demand.later_cost_s:
        ratio = demand.cost_s / demand.later_cost_s
        how = ", by its threads' clocks" if demand.cost_from == "threads" else ""
        return f"It was cold: a visit took {ratio:.1f} times the CPU time that it took later{how}."
    if demand.kind == "expensive" and demand.label_gained:
        of = "CPU time" if demand.cost_from == "threads" else "time"
        return (
            f"One kind of request is expensive: the share of the visits' {of} that {demand.label} "
            f"took was {demand.label_gained * 100:.0f} percentage points higher than otherwise."
        )
    if demand.cost_ratio is None:
        return "There are more users than it can serve."
    if demand.cost_ratio >= DEARER:
        return (
            f"At every server a visit took {demand.cost_ratio:.2f} times the CPU time that it "
            "takes otherwise, and more: the CPUs did less in a second (a lower clock, other "
            "machines on the same host), or many at once cost more each."
        )
    return "Requests cost what they usually cost: there are more users than it can serve."


def _carried(demand: Demand) -> str:
    can = demand.capacity
    if can is None:
        return ""
    rate = f"{can.throughput:,.0f} requests/s ({can.throughput_low:,.0f} to "
    rate += f"{can.throughput_high:,.0f})"
    when = "Once warm it" if demand.kind == "cold start" else "It"
    if can.users is None or can.users_low is None or can.users_high is None:
        return f" {when} can carry about {rate}."
    came = f"; {can.offered_users:,} came" if can.offered_users is not None else ""
    return (
        f" {when} can carry about {can.users:,.0f} users ({can.users_low:,.0f} to "
        f"{can.users_high:,.0f}), an estimate from {rate}{came}."
    )
