"""Running the trials of a proof: one that fails is told of, and the others go on."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from campaign import Planned

from tierlab.errors import UserError
from tierlab.tables import manifest as manifests

TIERLAB = Path(sys.executable).with_name("tierlab")

LONGEST_S = 1800
"""The longest trial, a control, takes eleven minutes and what starting the servers takes."""

TAKE_DOWN_S = 60


class TrialError(Exception):
    """A trial that gave nothing to score; the message names its log."""


@dataclass
class Conducted:
    """The trials that were run, each with its run folder, and why the others failed; how many were
    planned of each kind, and how many of those failed. ``again`` are those that went well after so
    many failures.
    """

    made: list[tuple[Planned, Path]] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    planned: Counter[str] = field(default_factory=Counter)
    failed_kinds: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)


def conduct(trials: Iterable[Planned], folder: Path) -> Conducted:
    """Run the trials below ``folder``, in order. One that is there is not repeated, one that failed
    is tried once more whenever the same folder is asked for again.

    Ends the program where the folder holds trials that were planned otherwise.
    """
    result = Conducted()
    for trial in trials:
        result.planned[trial.kind] += 1
        print(trial.name, end=": ", file=sys.stderr, flush=True)
        try:
            made = run(trial, folder)
            result.made.append((trial, made))
            result.again += Counter({trial.name: _failures(made)})
            print("done", file=sys.stderr)
        except TrialError as failure:
            result.failed[trial.name] = str(failure)
            result.failed_kinds[trial.kind] += 1
            print(failure, file=sys.stderr)
    return result


def run(trial: Planned, folder: Path) -> Path:
    """Return the trial's run folder, made now unless it is there. Raises :class:`TrialError`."""
    file = folder / f"{trial.name}.toml"
    if file.exists() and file.read_text() != trial.text:
        raise SystemExit(
            f"{file} is another trial than the one planned: give the seed, size and capacity that "
            "the folder was made with, or another folder with --runs."
        )
    if (there := finished(folder / trial.name)) is not None:
        return there
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(trial.text)
    log = folder / f"{trial.name}.log"
    status = _ran(file, log)
    made = finished(folder / trial.name)
    if made is None:
        raise TrialError(f"{trial.name} failed (status {status}): see {log}")
    return made


def _failures(made: Path) -> int:
    """Count the run folders that the trial left before that one."""
    return sum(each < made for each in numbered(made.parent))


def numbered(runs: Path) -> list[Path]:
    """Return the run folders of a trial, in the order in which it was tried."""
    return sorted(runs.glob("[0-9][0-9][0-9]"))


def finished(runs: Path) -> Path | None:
    """Return the last run folder of a trial that went as planned; None where there is none."""
    for each in reversed(numbered(runs)):
        try:
            if manifests.read(each).exit.state == "done":
                return each
        except UserError:  # broken off before it had a manifest
            continue
    return None


def _ran(file: Path, log: Path) -> int | None:
    """Run an experiment and return its exit status; None where it hung and was interrupted."""
    command: list[str | Path] = [TIERLAB, "run", file, "--runs", file.parent]
    with (
        log.open("w") as said,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            return process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(TAKE_DOWN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            # Its servers would run on under the next trial.
            subprocess.run(
                [TIERLAB, "clean"],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=TAKE_DOWN_S,
                check=False,
            )
        return None
