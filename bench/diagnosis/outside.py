"""Troubles that no injector makes, made in a running trial, and how they are answered.

A trial is run without any disturbance. Meanwhile each of the system's :mod:`troubles` is made in
turn, in an order drawn from the seed; when is written beside the run. Those count that were felt,
and those of which something is said. An answer is the cause that the report puts first of the
findings that touch the time. A disk that stood still by nobody's doing is left out of them, and
counted, as in the proof of injected disturbances.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import device
import duckdb
import psutil
from access import Access
from conduct import LONGEST_S, TIERLAB, finished, numbered
from score import Found, found_in, touches
from systems import System
from trouble import Trouble
from troubles import TROUBLES
from truth import Injected

from tierlab.analysis.observed import observe
from tierlab.diagnosis import diagnose
from tierlab.diagnosis.merge import UNKNOWN
from tierlab.tables.run import Run

RAMP_UP_S, APART_S, ROUNDS = 20, 6.0, 2
TYPICAL_TROUBLE_S, LONGEST_TROUBLE_S = 2.0, 4.0
LATE_NS, FELT = 100_000_000, 5
"""Felt is what made so many requests so late."""
LEAST_GOOD, MOST_WRONG = 0.9, 0.1
EXPERIMENT = """[experiment]
name = "{name}"
seed = {seed}

[system]
workload = "{workload}"

[load]
users = {users}
mix = "{mix}"
phases = {{ ramp_up = "{ramp_up}s", runtime = "{runtime}s", ramp_down = "2s" }}
"""


@dataclass(frozen=True)
class Made:
    """A trouble that was made, by its name, and when."""

    name: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Answer:
    """What was said of a trouble: ``cause`` and ``tier`` are empty where nothing was found."""

    trouble: Trouble
    made: Made
    cause: str
    tier: str

    @property
    def kind(self) -> str:
        """``right``, ``unknown``, ``missed``, ``elsewhere`` (a right cause at another tier) or
        ``wrong``.
        """
        if not self.cause:
            return "missed"
        if self.cause == UNKNOWN:
            return "unknown"
        if (self.cause, self.tier) in self.trouble.answers:
            return "right"
        causes = {cause for cause, _tier in self.trouble.answers}
        return "elsewhere" if self.cause in causes else "wrong"


@dataclass
class Judged:
    """The answers that count, and by the trouble's name how many were not felt, and how many first
    answers were left out; those and others are so many ``windows``.
    """

    answers: list[Answer] = field(default_factory=list)
    unfelt: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    windows: int = 0


def outside(folder: Path, system: System, seed: int, trials: int) -> tuple[str, bool]:
    """Run the trials below ``folder`` that are not there yet, at half of what the system can serve.
    Return the table of answers, and whether the bars hold.
    """
    troubles = TROUBLES[system.workload]
    judged = Judged()
    for number in range(trials):
        run, made = _trial(folder, f"outside-{number}", seed + number, system)
        judge(judged, run, made, troubles)
    good, wrong = shares(judged.answers)
    return markdown(troubles, judged), good >= LEAST_GOOD and wrong <= MOST_WRONG


def _trial(folder: Path, name: str, seed: int, system: System) -> tuple[Path, list[Made]]:
    """Return the run folder and what was made, now unless it is there."""
    told = folder / f"{name}.made.json"
    there = finished(folder / name)
    if there is None or not told.exists():
        folder.mkdir(parents=True, exist_ok=True)
        order = list(TROUBLES[system.workload]) * ROUNDS
        random.Random(seed).shuffle(order)
        runtime = round(len(order) * (APART_S + TYPICAL_TROUBLE_S) + LONGEST_TROUBLE_S)
        text = EXPERIMENT.format(
            name=name,
            seed=seed,
            workload=system.workload,
            users=system.capacity // 2,
            mix=system.mix,
            ramp_up=RAMP_UP_S,
            runtime=runtime,
        )
        file = folder / f"{name}.toml"
        file.write_text(text)
        told.write_text(json.dumps([asdict(each) for each in _make(file, order, runtime)]))
        there = finished(folder / name)
        if there is None:
            raise SystemExit(f"{name} failed: see {file.with_suffix('.log')}")
    return there, [Made(**each) for each in json.loads(told.read_text())]


def _make(file: Path, order: Sequence[Trouble], runtime_s: int) -> list[Made]:
    """Run the trial and make the troubles, as many as fit into its runtime. One that cannot be made
    is told of, and does not count.
    """
    made = []
    with (
        file.with_suffix(".log").open("w") as said,
        subprocess.Popen(
            [TIERLAB, "run", file, "--runs", file.parent],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        _wait_for_users(process)
        begin = time.monotonic() + RAMP_UP_S + 1
        until = begin + runtime_s - APART_S - LONGEST_TROUBLE_S
        time.sleep(begin - time.monotonic())
        run = numbered(file.with_suffix(""))[-1]
        access = Access(f"{file.stem}-{run.name}-{process.pid}", run)
        for trouble in order:
            if time.monotonic() > until or process.poll() is not None:
                break
            start_ns = time.time_ns()
            try:
                trouble.make(access)
            except subprocess.CalledProcessError as failure:
                print(f"{trouble.name} failed: {failure.stderr}", file=sys.stderr, flush=True)
            else:
                made.append(Made(trouble.name, start_ns, time.time_ns()))
            time.sleep(APART_S)
        process.wait(LONGEST_S)
    return made


def _wait_for_users(process: subprocess.Popen[bytes]) -> None:
    """Return once the trial's driver runs."""
    until = time.monotonic() + LONGEST_S
    while process.poll() is None and time.monotonic() < until:
        for child in psutil.Process(process.pid).children(recursive=True):
            try:
                command = child.cmdline()
            except psutil.Error:
                continue
            if any(word.endswith("tierlab-agent") for word in command) and "drive" in command:
                return
        time.sleep(0.1)


def judge(judged: Judged, run: Path, made: Sequence[Made], troubles: Sequence[Trouble]) -> None:
    """Add how those of a trial were answered that delayed requests, and the others' names."""
    diagnosis = diagnose(observe(Run(run)))
    known = {each.name: each for each in troubles}
    happened = [_happened(run, number, each, known) for number, each in enumerate(made, 1)]
    using = [each for each in happened if known[each.cause].uses_disk]
    kept, windows = device.without(diagnosis, device.slow_ticks(run), using)
    judged.windows += len(windows)
    every, found = found_in(diagnosis), found_in(kept)
    for each, true in zip(made, happened, strict=True):
        first = _first(found, true)
        if (told := _first(every, true)) is not None and not _among(told, found):
            judged.left_out[each.name] += 1
        if true.delayed < FELT and first is None:
            judged.unfelt[each.name] += 1
        else:
            judged.answers.append(Answer(known[each.name], each, *_said(first)))


def _happened(run: Path, number: int, made: Made, known: Mapping[str, Trouble]) -> Injected:
    server, late = known[made.name].server, _late(run, made)
    return Injected(number, made.name, server, made.start_ns, made.end_ns, delayed=late, held=0)


def _first(found: Sequence[Found], true: Injected) -> Found | None:
    """Return what the report puts first of what touches the time."""
    hits = [one for one in found if touches(one.window, true)]
    return min(hits, key=lambda one: (one.place, one.window.start_ns), default=None)


def _among(one: Found, found: Sequence[Found]) -> bool:
    """Say whether it is there still, whatever place the report gives it then."""
    said = (one.cause, one.tier, one.window)
    return any((each.cause, each.tier, each.window) == said for each in found)


def _late(run: Path, made: Made) -> int:
    """Count the requests under way meanwhile that took 100 ms more than their page's median."""
    row = duckdb.execute(
        """WITH requests AS (FROM read_parquet($file)), usual AS (
            SELECT interaction, median(end_ns - intended_ns) AS usual FROM requests GROUP BY ALL
        ) SELECT count(*) FROM requests JOIN usual USING (interaction)
        WHERE intended_ns < $end AND end_ns > $start AND end_ns - intended_ns - usual >= $late""",
        {
            "file": str(run / "requests.parquet"),
            "start": made.start_ns,
            "end": made.end_ns,
            "late": LATE_NS,
        },
    ).fetchone()
    return 0 if row is None else int(row[0])


def _said(first: Found | None) -> tuple[str, str]:
    return ("", "") if first is None else (first.cause, first.tier)


def markdown(troubles: Sequence[Trouble], judged: Judged) -> str:
    """Return the table of answers, with the two shares and what was left out below it."""
    answers = judged.answers
    lines = [
        "| trouble | right answers | cases | right | unknown | missed | right, but at another tier "
        "| a wrong name | not felt |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for trouble in troubles:
        mine = [each for each in answers if each.trouble is trouble]
        kinds = Counter(each.kind for each in mine)
        right = ", ".join(sorted(f"{cause} at {tier}" for cause, tier in trouble.answers)) or "none"
        counts = (kinds["right"], kinds["unknown"], kinds["missed"])
        named = (_named(mine, "elsewhere"), _named(mine, "wrong"))
        row = (trouble.words, right, len(mine), *counts, *named, judged.unfelt[trouble.name])
        lines.append(f"| {' | '.join(map(str, row))} |")
    good, wrong = shares(answers)
    below = (
        f"Right or unknown: {good:.2f} (bar {LEAST_GOOD}); a wrong name: {wrong:.2f} (bar "
        f"{MOST_WRONG}); of {len(answers)} that count.\n\nLeft out: {judged.windows} windows of a "
        f"disk that stood still by nobody's doing; first answers of {_counted(judged.left_out)}."
    )
    return "\n".join([*lines, "", below])


def _named(answers: Sequence[Answer], kind: str) -> str:
    said = Counter(f"{each.cause} at {each.tier}" for each in answers if each.kind == kind)
    return _counted(said) if said else "0"


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in names.items()) or "none"


def shares(answers: Sequence[Answer]) -> tuple[float, float]:
    """Return which share was answered right or with ``unknown``, and which with a wrong name."""
    kinds = Counter(each.kind for each in answers)
    all_ = max(1, len(answers))
    return (kinds["right"] + kinds["unknown"]) / all_, kinds["wrong"] / all_
