"""Does the run pass by the rules of its benchmark? Judged as the Faban driver framework judges.

After A. Sucharitakul's Faban driver framework (Sun Microsystems, 2005-2009, class `Metrics`), and,
for what pages have to hold, Olio's driver (Apache Software Foundation, 2009, class `UIDriver`).
"""

from tierlab.analysis.query import Connection
from tierlab.analysis.requests.buckets import Buckets
from tierlab.analysis.requests.steady import Operation, Steady, steady
from tierlab.analysis.result import Result
from tierlab.analysis.span import Span
from tierlab.tables.rules import Check, OperationRule, RunRules

LEAST_THINK_S = 0.001
"""Mean think times below this have no deviation that could be judged."""
ROUNDING = 1e-9
"""Shares and means are sums of floating point numbers: what is exactly at a bound keeps it."""


class OperationVerdict(Result):
    """One operation: its share of those that succeeded, its time, and the delay after it.

    ``percentile_s`` is where the bucket of the percentile ends, None where that is the last one,
    beyond ``buckets_end_s``, or where no operation succeeded. A verdict is None where there was
    nothing to judge; only False fails the run.
    """

    name: str
    count: int
    failed: int
    share: float
    required_share: float | None
    mix_passed: bool | None
    mean_s: float | None
    max_s: float | None
    percentile_s: float | None
    buckets_end_s: float
    limit_s: float | None
    time_passed: bool | None
    delay_s: float | None
    drawn_delay_s: float | None
    delay_passed: bool | None


class CheckVerdict(Result):
    """A figure and its bounds; one that was not measured fails."""

    name: str
    value: float | None
    least: float | None
    most: float | None
    passed: bool


class RunVerdict(Result):
    """Whether the run passed. ``throughput`` is successful operations per second; ``broken`` has
    a sentence for each rule that did not hold.
    """

    passed: bool
    percentile: float
    throughput: float
    operations: list[OperationVerdict]
    checks: list[CheckVerdict]
    broken: list[str]


def run_verdict(
    db: Connection,
    span: Span,
    rules: RunRules | None,
    users: float | None,
    system: str | None = None,
) -> RunVerdict | None:
    """Judge the span, of one of several systems if it is named; None without rules, or where
    nothing happened.
    """
    if rules is None:
        return None
    seen = steady(db, span, rules, system)
    return None if seen is None else judge(rules, seen, users)


def judge(rules: RunRules, seen: Steady, users: float | None) -> RunVerdict:
    """Judge a steady state of so many users (None in an open loop, which keeps no such bound)."""
    buckets = Buckets(max(each.limit_ns for each in rules.operations.values()))
    total = sum(each.count for each in seen.operations.values())
    operations = [
        _operation(name, each, rules, buckets, each.count / total if total else 0.0)
        for name, each in seen.operations.items()
    ]
    checks = [_check(each, seen.measures.get(each.name)) for each in rules.checks]
    if rules.most_users_per_rate is not None:
        rate = seen.throughput
        ratio = users / rate if users is not None and rate > 0 else None
        checks.append(_bounded("users / throughput", ratio, None, rules.most_users_per_rate))
    broken = [
        *(sentence for each in operations for sentence in _sentences(each, rules)),
        *(_sentence(each) for each in checks if not each.passed),
    ]
    return RunVerdict(
        passed=not broken,
        percentile=rules.percentile,
        throughput=seen.throughput,
        operations=operations,
        checks=checks,
        broken=broken,
    )


def _operation(
    name: str, seen: Operation, rules: RunRules, buckets: Buckets, share: float
) -> OperationVerdict:
    rule = rules.operations.get(name)
    at = buckets.percentile(seen.buckets, rules.percentile) if seen.count else None
    return OperationVerdict(
        name=name,
        count=seen.count,
        failed=seen.failed,
        share=share,
        required_share=None if rule is None else rule.share,
        mix_passed=_in_mix(rule, share, rules.mix_deviation),
        mean_s=seen.mean_s,
        max_s=seen.max_s,
        percentile_s=at.upto_ns / 1e9 if at is not None and at.upto_ns is not None else None,
        buckets_end_s=buckets.coarse_end_ns / 1e9,
        limit_s=None if rule is None else rule.limit_ns / 1e9,
        time_passed=None if rule is None or at is None else at.within(rule.limit_ns),
        delay_s=seen.delay_s,
        drawn_delay_s=seen.drawn_s,
        delay_passed=_in_time(seen, rules),
    )


def _in_mix(rule: OperationRule | None, share: float, deviation: float) -> bool | None:
    return None if rule is None else abs(share - rule.share) <= deviation + ROUNDING


def _in_time(seen: Operation, rules: RunRules) -> bool | None:
    if seen.delay_s is None or seen.drawn_s is None:
        return None
    if rules.delay_from == "end" and seen.drawn_s <= LEAST_THINK_S:
        return True
    return abs(seen.delay_s - seen.drawn_s) <= rules.delay_deviation * seen.drawn_s + ROUNDING


def _check(check: Check, value: float | None) -> CheckVerdict:
    return _bounded(check.name, value, check.least, check.most)


def _bounded(
    name: str, value: float | None, least: float | None, most: float | None
) -> CheckVerdict:
    within = value is not None and (
        (least is None or value >= least - ROUNDING) and (most is None or value <= most + ROUNDING)
    )
    return CheckVerdict(name=name, value=value, least=least, most=most, passed=within)


def _sentences(found: OperationVerdict, rules: RunRules) -> list[str]:
    said = []
    if found.mix_passed is False and found.required_share is not None:
        said.append(
            f"{found.name} is {found.share:.2%} of the mix; {found.required_share:.2%} within"
            f" {rules.mix_deviation * 100:g} points are required."
        )
    if found.time_passed is False:
        took = (
            f"over {found.buckets_end_s:g} s"
            if found.percentile_s is None
            else f"up to {found.percentile_s:g} s"
        )
        said.append(
            f"{found.name}: {rules.percentile:.0%} took {took}; the limit is {found.limit_s:g} s."
        )
    if found.delay_passed is False and found.delay_s is not None and found.drawn_delay_s:
        off = found.delay_s / found.drawn_delay_s - 1
        kind = {"start": "cycle", "end": "think"}[rules.delay_from]
        said.append(
            f"{found.name}: the mean {kind} time was {found.delay_s:.3f} s instead of"
            f" {found.drawn_delay_s:.3f} s ({off:+.1%}); {rules.delay_deviation:.0%} are allowed."
        )
    return said


def _sentence(found: CheckVerdict) -> str:
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", found.least), ("at most", found.most))
        if bound is not None
    ]
    value = "not measured" if found.value is None else f"{found.value:.6g}"
    return f"{found.name}: {value}; it must be {' and '.join(bounds)}."
