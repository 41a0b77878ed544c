"""The findings in words that a manager can read."""

from tierlab.diagnosis.finding import Delayed, Finding, Window
from tierlab.diagnosis.merge import Merged


def times(windows: list[Window]) -> str:
    """Say how often and for how long: ``three times for 310 to 420 ms``."""
    lengths = sorted(round(each.duration_s * 1e3) for each in windows)
    count = {1: "once", 2: "twice", 3: "three times"}.get(len(windows), f"{len(windows)} times")
    if lengths[0] == lengths[-1]:
        return f"{count} for {lengths[0]} ms"
    return f"{count} for {lengths[0]} to {lengths[-1]} ms"


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


def said(found: Merged, who: Delayed | None) -> str:
    """Say what happened where, how often, to whom."""
    winner = found.clearest.verdict.winner
    if winner is None or found.cause is None:
        what = "kept requests waiting, for no cause among those that are known"
    else:
        what = found.cause.happened(winner.context)
    return f"{found.subject} {what}, {times(found.windows)}.{requests(who)}"
