"""One disturbance drawn from a seed, told by a diagnosis that knows nothing of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

TABLE = """
[[disturb]]
class = "random"
shortest = "400ms"
longest = "1s"
"""
SLACK_NS = 500_000_000
"""A disturbance's effect may end this long after it."""


@dataclass(frozen=True)
class Blind:
    """What was done, and what the diagnosis said of that time."""

    cause: str
    subject: str
    duration_s: float
    told: tuple[str, ...]
    verdict: str
    """``right``, ``wrong`` (another cause or server for that time), ``unknown`` (it names
    no cause), ``not told`` (it says nothing of that time), or ``not done``."""


def judge(run: Path) -> Blind | None:
    """Hold the findings against the truth beside the run folder; None where nothing was drawn."""
    lines = (run.with_name(f"{run.name}.truth") / "truth.jsonl").read_text("utf-8").splitlines()
    if not lines:
        return None
    true = json.loads(lines[0])
    begin, end = true["start_ns"], true["end_ns"]
    findings = json.loads((run / "findings.json").read_text("utf-8"))["findings"]
    near = [
        each
        for each in findings
        if any(
            window["start_ns"] <= end + SLACK_NS and window["end_ns"] >= begin
            for window in each["windows"]
        )
    ]
    told = tuple(f"{each['cause']} at {each['subject']}" for each in near)
    verdict = (
        _verdict(f"{true['class']} at {true['subject']}", told) if true["done"] else "not done"
    )
    return Blind(true["class"], true["subject"], (end - begin) / 1e9, told, verdict)


def undisturbed(run: Path) -> list[str]:
    """Return the causes that the diagnosis names in a run to which nothing was done."""
    findings = json.loads((run / "findings.json").read_text("utf-8"))["findings"]
    return [f"{each['cause']} at {each['subject']}" for each in findings]


def _verdict(true: str, told: tuple[str, ...]) -> str:
    if true in told:
        return "right"
    if not told:
        return "not told"
    return "unknown" if all(each.startswith("unknown") for each in told) else "wrong"
