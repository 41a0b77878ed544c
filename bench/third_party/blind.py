"""Disturbances drawn from a seed, told by a diagnosis that knows nothing of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = 10
TABLES = (
    CASES
    * """
[[disturb]]
class = "random"
shortest = "400ms"
longest = "1s"
gap = "4s"
"""
)
LENGTH = "load.phases.runtime=60s"
"""For so many disturbances with their gaps."""
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


def judge(run: Path) -> list[Blind]:
    """Hold the findings against the truth beside the run folder."""
    lines = (run.with_name(f"{run.name}.truth") / "truth.jsonl").read_text("utf-8").splitlines()
    findings = json.loads((run / "findings.json").read_text("utf-8"))["findings"]
    return [_judged(true, findings) for true in map(json.loads, lines)]


def by_verdict(cases: list[Blind]) -> str:
    """Return how many there were of each verdict, and which of the others than right."""
    found = []
    for verdict, count in sorted(Counter(each.verdict for each in cases).items()):
        which = sorted(f"{each.cause} {each.subject}" for each in cases if each.verdict == verdict)
        found.append(
            f"{count} {verdict}" + ("" if verdict == "right" else f" ({', '.join(which)})")
        )
    return ", ".join(found)


def _judged(true: dict[str, Any], findings: list[dict[str, Any]]) -> Blind:
    begin, end = true["start_ns"], true["end_ns"]
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
