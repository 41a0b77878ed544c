"""The answer in words. Terminal and page say the same sentences about the same summary."""

from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.analysis.by_system import SystemFigures
from tierlab.analysis.facts import Facts
from tierlab.analysis.requests.very_long import VeryLong
from tierlab.analysis.summary import Summary
from tierlab.report import waits
from tierlab.report.differences import change_words
from tierlab.report.figures import amount, count, number, seconds, share


@dataclass(frozen=True)
class Answer:
    """What the first screen says. ``figures`` are (value, what it is); empty text says nothing."""

    title: str
    figures: list[tuple[str, str]]
    slow: str
    rules: list[str]
    systems: list[str]
    time: str
    waits: str
    busy: str
    queues: str
    changes: list[str]
    quality: str
    warnings: list[str]


def answer(summary: Summary) -> Answer:
    """Put a summary in words."""
    return Answer(
        title=title(summary),
        figures=figures(summary),
        slow=slow(summary),
        rules=rules(summary),
        systems=systems(summary),
        time=time_went(summary),
        waits=waits.sentence(summary),
        busy=busy(summary),
        queues=queues(summary),
        changes=[change_words(each) for each in summary.changes],
        quality=quality(summary),
        warnings=warnings(summary),
    )


def title(summary: Summary) -> str:
    """Return the trial in a line: name, environment, load, length."""
    about = summary.facts
    parts = [f"{about.experiment}/{about.trial}", about.environment]
    parts += _loads(summary.systems or [about], about.users, about.rate)
    if about.shape is not None:
        parts.append(f"shape {about.shape}")
    if about.duration_s is not None:
        parts.append(seconds(about.duration_s))
    return " · ".join(parts)


def _loads(of: Sequence[Facts | SystemFigures], users: int | None, rate: float | None) -> list[str]:
    """The load in words: all users, all requests that are offered, each speed of a log. What
    follows a shape is at its highest.
    """

    def most(key: str) -> str:
        shaped = (each for each in of if each.shape is not None)
        return "at most " if any(getattr(each, key) is not None for each in shaped) else ""

    said = []
    if users is not None:
        said.append(f"{most('users')}{count(users)} users")
    if rate is not None:
        said.append(f"{most('rate')}{number(rate)} requests/s offered")
    speeds = dict.fromkeys(each.speed for each in of if each.speed is not None)
    return [*said, *(f"a log at {number(speed)} times its speed" for speed in speeds)]


def figures(summary: Summary) -> list[tuple[str, str]]:
    """Return throughput and response times."""
    found = summary.responses
    if found is None:
        return []
    shown = [(number(found.throughput), "requests/s")]
    if found.time is not None:
        shown += [
            (seconds(found.time.mean_s), "mean"),
            (seconds(found.time.p50_s), "p50"),
            (seconds(found.time.p99_s), "p99"),
            (seconds(found.time.max_s), "worst"),
        ]
    if summary.very_long is not None:
        long = summary.very_long
        shown.append((share(long.share), f"over {seconds(long.threshold_s)}"))
    return shown


def systems(summary: Summary) -> list[str]:
    """Say of each of several systems its load, how fast it was, and how many requests failed."""
    said = []
    for each in summary.systems:
        load = ", ".join(_loads([each], each.users, each.rate)) or "open load"
        found = each.responses
        if found is None or found.time is None:
            said.append(f"{each.name} ({each.workload}, {load}): no request succeeded.")
            continue
        failed = f"{count(found.failed)} failed" if found.failed else "none failed"
        said.append(
            f"{each.name} ({each.workload}, {load}): {number(found.throughput)} requests/s, mean"
            f" {seconds(found.time.mean_s)}, p99 {seconds(found.time.p99_s)}, {failed}."
        )
    return said


def rules(summary: Summary) -> list[str]:
    """Say whether the run passed by the rules of its benchmark, or each system by those of its."""
    found = [("The run", summary.rules), *((each.name, each.rules) for each in summary.systems)]
    said = []
    for who, verdict in found:
        if verdict is None:
            continue
        if verdict.passed:
            said.append(f"{who} passes by the rules of its benchmark.")
            continue
        first, *others = verdict.broken
        more = f" (and {amount(len(others), '')} more)" if others else ""
        said.append(f"{who} does not pass by the rules of its benchmark: {first}{more}")
    return said


def slow(summary: Summary) -> str:
    """Say how many requests took very long or failed."""
    found, long = summary.responses, summary.very_long
    if found is None or long is None:
        return ""
    limit = seconds(long.threshold_s)
    if long.count:
        said = f"{share(long.share)} of {count(found.count)} requests took over {limit}"
        top = summary.busiest[0] if summary.busiest else None
        if top is not None and top.mean < 0.8:
            said += f" although no core or disk averaged above {share(top.mean)}"
    else:
        said = f"None of {count(found.count)} requests took over {limit}"
    said += _waiting(long)
    if not found.failed:
        return f"{said}." if long.unfinished_failed else f"{said}; none failed."
    kinds = ", ".join(f"{count(each.count)} {each.kind}" for each in found.errors[:3])
    more = ", ..." if len(found.errors) > 3 else ""
    return f"{said}; {count(found.failed)} failed ({kinds}{more})."


def _waiting(long: VeryLong) -> str:
    """Say how many are in no figure, as they waited still."""
    if not long.unfinished:
        return ""
    later = f" ({count(long.unfinished_failed)} of them failed later)"
    said = f", and {count(long.unfinished)} more had waited longer when the runtime ended"
    return said + (later if long.unfinished_failed else "")


def time_went(summary: Summary) -> str:
    """Say in which tier a request's time goes, the largest share first."""
    if summary.time is None:
        return ""
    parts = [(each.share, each.tier) for each in summary.time.tiers]
    if summary.time.remainder_share is not None:
        parts.append((summary.time.remainder_share, "network, accept queue and driver"))
    parts.sort(key=lambda part: -part[0])
    return "Time went: " + ", ".join(f"{name} {share(part)}" for part, name in parts) + "."


def busy(summary: Summary) -> str:
    """Say what was busiest: the two cores or disks with the highest mean, of guests' as well."""
    if not summary.busiest:
        return ""
    said = []
    for each in summary.busiest[:2]:
        kind = "disk " if each.table.endswith("disk") else ""
        text = f"{kind}{each.subject} {share(each.mean)} mean, {share(each.peak)} peak"
        if each.saturated:
            text += f", saturated {share(each.saturated / each.ticks)} of the time"
        said.append(text)
    return "Busiest: " + "; ".join(said) + "."


def queues(summary: Summary) -> str:
    """Say each server's queue length, mean and peak, from the users on."""
    said = [
        f"{each.name} {number(each.queue.mean)} ({number(each.queue.peak)})"
        for each in summary.servers
        if each.queue is not None
    ]
    return f"Queue lengths, mean (peak): {', '.join(said)}." if said else ""


def quality(summary: Summary) -> str:
    """Say what the observation cost and how late the driver was."""
    cost, parts = summary.observation, []
    if cost.throughput_ratio is not None:
        parts.append(f"observed throughput {share(cost.throughput_ratio)} of unobserved")
    if cost.core_share is not None:
        parts.append(f"observation used {share(cost.core_share)} of a core")
    if summary.driver is not None:
        parts.append(f"driver lag p99 {seconds(summary.driver.lag.p99_s)}")
    if summary.not_measured:
        parts.append(f"{amount(len(summary.not_measured), '')} not measured")
    return " · ".join(parts)


def warnings(summary: Summary) -> list[str]:
    """Return what the reader has to know before believing the figures."""
    said = list(summary.caveats)
    if summary.driver is not None and summary.driver.was_bottleneck:
        said.append(f"The driver was itself a bottleneck: {summary.driver.reason}.")
    broken = [
        f"{each.subject} ({each.difference:+.0%})" for each in summary.checks if not each.holds
    ]
    if broken:
        said.append(
            f"Little's law does not hold for {', '.join(broken)}: "
            "the load was not steady, or something was not recorded."
        )
    return said
