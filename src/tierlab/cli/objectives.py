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
        missed.append(
            f"throughput is {responses.throughput:.1f} requests/s, the objective is {least:g}."
        )
    most = asked.pop("errors", None)
    long = summary.very_long
    # Who still waits when the runtime ends is in no figure: a system that hangs would be quick.
    failed = responses.failed + (0 if long is None else long.unfinished_failed)
    share = failed / (responses.count + failed - responses.failed)
    if most is not None and share > most:
        missed.append(f"{share:.2%} of the requests failed, the objective is {most:.2%}.")
    waited = None if long is None else long.at_least
    time = responses.time if waited is None else waited
    times = time.model_dump() if time is not None else {}
    for key, bound_ns in asked.items():
        name = key.removesuffix("_ns")
        found = times.get(f"{name}_s")
        if found is None:
            missed.append(f"{name} cannot be judged: every request failed.")
        elif found * 1e9 > bound_ns:
            missed.append(
                f"{name} is {found * 1e3:.0f} ms, the objective is {bound_ns / 1e6:g} ms."
            )
    return missed


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
