"""What was done to a trial on purpose, kept beside its run folder and never inside it.

``runs/<experiment>/<trial>.truth/`` holds the disturbances as they were drawn (``disturb.toml``),
as they came to pass (``truth.jsonl``), and the disturbing agent's plan and log. Diagnosis is judged
by it, and so must never see it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from tierlab.errors import UserError
from tierlab.experiment.draw import Drawn
from tierlab.values.toml import as_toml

SUFFIX = ".truth"
DRAWN = "disturb.toml"
LOG = "truth.jsonl"
PROBLEM = "problem.txt"


class Happened(BaseModel):
    """A disturbance as it came to pass: a line of ``truth.jsonl``. Times are UTC nanoseconds.

    ``intensity`` has what its class alone has, as the agent's plan says it; ``effect`` what it is
    known to have done. ``done`` is false, and ``error`` says why, where it was not carried out in
    full; its times may be None then.
    """

    id: int
    class_: str = Field(alias="class")
    subject: str
    start_ns: int | None
    end_ns: int | None
    intensity: dict[str, Any]
    effect: dict[str, Any] = Field(default_factory=dict)
    done: bool
    error: str | None = None


@dataclass(frozen=True)
class TruthFolder:
    """The truth of one run folder."""

    path: Path

    @classmethod
    def of(cls, run: Path) -> TruthFolder:
        """Where the truth of a run folder lies, if there is any."""
        return cls(run.with_name(run.name + SUFFIX))

    def create(self, drawn: Sequence[Drawn]) -> None:
        """Make the folder and write down what is going to be done."""
        self.path.mkdir()
        (self.path / DRAWN).write_text(written(drawn), encoding="utf-8")

    def drawn(self) -> str:
        """What was going to be done, as :func:`written` has it; empty without any."""
        path = self.path / DRAWN
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def happened(self) -> list[Happened]:
        """What has come to pass so far, in the order of its end; empty without any."""
        path = self.path / LOG
        if not path.exists():
            return []
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            return [Happened.model_validate_json(line) for line in lines]
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            first = str(error).splitlines()[0]
            raise UserError(f"{path} cannot be read ({first}): repeat the trial.") from error

    def add(self, happened: Iterable[Happened]) -> None:
        """Write down what has come to pass without the disturbing agent."""
        with (self.path / LOG).open("a", encoding="utf-8") as file:
            for each in happened:
                file.write(f"{each.model_dump_json(by_alias=True)}\n")

    def keep_problem(self, problem: str) -> None:
        """Keep, in a sentence, why the trial was not disturbed as it should have been."""
        (self.path / PROBLEM).write_text(f"{problem}\n", encoding="utf-8")

    def problem(self) -> str | None:
        """That sentence, if there is one."""
        path = self.path / PROBLEM
        return path.read_text(encoding="utf-8").strip() if path.exists() else None

    def keep_summary(self, summary: dict[str, Any]) -> None:
        """Keep what the disturbing agent says of itself: its CPU time above all."""
        text = json.dumps(summary, indent=1) + "\n"
        (self.path / "agent.disturb.summary.json").write_text(text, encoding="utf-8")


def written(drawn: Sequence[Drawn]) -> str:
    """The disturbances as the `[[disturb]]` tables of an experiment file that repeats them."""
    return "\n".join(_table(each) for each in drawn)


def _table(drawn: Drawn) -> str:
    keys = drawn.what.written(drawn.at_ns)
    return "[[disturb]]\n" + "".join(f"{key} = {as_toml(value)}\n" for key, value in keys.items())
