"""Does a trial meet its stated objective?"""

from __future__ import annotations

from tierlab.analysis.summary import Summary
from tierlab.experiment import Objective


def shortfalls(objective: Objective, summary: Summary) -> list[str]:
    """Say in one sentence each which bounds the trial did not keep."""
    asked = objective.model_dump(exclude_none=True)
    missed = _broken(summary) if asked.pop("rules") else []
    if not asked:
        return missed
    responses = summary.responses
    if responses is None:
        return [*missed, "The objective cannot be judged: no request ended in the runtime."]
    least = asked.pop("throughput", None)
    if least is not None and responses.throughput < least:
        found, asked_for = _apart(responses.throughput, least)
        missed.append(f"throughput is {found} requests/s, the objective is {asked_for}.")
    most = asked.pop("errors", None)
    long = summary.very_long
    # Who still waits when the runtime ends is in no figure: a system that hangs would be quick.
    later = 0 if long is None else long.unfinished_failed
    share = (responses.failed + later) / (responses.count + later)
    if most is not None and share > most:
        found, allowed = _apart(100 * share, 100 * most)
        missed.append(f"{found} % of the requests failed, the objective is {allowed} %.")
    waited = None if long is None else long.at_least
    time = responses.time if waited is None else waited
    times = time.model_dump() if time is not None else {}
    for key, bound_ns in asked.items():
        name = key.removesuffix("_ns")
        took_s = times.get(f"{name}_s")
        if took_s is None:
            missed.append(f"{name} cannot be judged: every request failed.")
        elif took_s * 1e9 > bound_ns:
            found, allowed = _apart(took_s * 1e3, bound_ns / 1e6)
            missed.append(f"{name} is {found} ms, the objective is {allowed} ms.")
    return missed


def _apart(found: float, bound: float) -> tuple[str, str]:
    """Write what was found with as many digits as tell it from its bound, three at least."""
    allowed = f"{bound:.15g}"
    for digits in range(3, 16):
        text = f"{found:.{digits}g}"
        # Not by its exponent, as 4900 with three digits would be.
        told = f"{float(text):.15g}"
        if told != allowed:
            return told, allowed
    return f"{found:.15g}", allowed


def _broken(summary: Summary) -> list[str]:
    """The rules of the benchmark, or of several systems' benchmarks, that do not hold."""
    found = {"": summary.rules, **{each.name: each.rules for each in summary.systems}}
    verdicts = {name: verdict for name, verdict in found.items() if verdict is not None}
    if not verdicts:
        return ["The rules cannot be judged: the workload has none, or nothing happened."]
    return [
        f"{name}: {sentence}" if name else sentence
        for name, verdict in verdicts.items()
        for sentence in verdict.broken
    ]
