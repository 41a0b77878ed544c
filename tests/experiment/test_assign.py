"""`--set KEY=VALUE` and `--repeat N` in the place of what a file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tierlab.errors import UserError
from tierlab.experiment import TrialPlan, load

FILE = """
[experiment]
name = "e"
[system]
workload = "rubbos"
app.soft.threads = 10
[load]
users = 10
[factors]
"load.think" = ["1s", "2s"]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "e.toml"
    path.write_text(FILE)
    return path


def trials(file: Path, *assignments: str, **options: Any) -> tuple[TrialPlan, ...]:
    return load(file, assignments=assignments, **options).trials()


def test_a_number_a_text_and_a_table(file: Path) -> None:
    plan, _ = trials(
        file,
        "system.app.soft.threads=50",
        "experiment.question = why?",
        'load.phases={ runtime = "7s" }',
    )

    assert plan.system.app.soft["threads"] == 50
    assert plan.question == "why?"
    assert plan.load.phases.runtime_ns == 7 * 10**9


def test_a_duration_needs_no_quotes_and_a_later_one_counts(file: Path) -> None:
    plan, _ = trials(file, "load.phases.runtime=3s", "load.phases.runtime=4s")

    assert plan.load.phases.runtime_ns == 4 * 10**9


def test_levels_can_be_set_and_repeated(file: Path) -> None:
    plans = trials(file, 'factors."load.think"=["3s"]', repeat=5)

    assert [(p.repetition, p.load.think_ns) for p in plans] == [(n, 3 * 10**9) for n in range(1, 6)]


@pytest.mark.parametrize(
    ("assignment", "sentence"),
    [
        ("load.usrs=5", r"load\.usrs is not a known key \(did you mean users\?\)"),
        ("load.users=many", r'load\.users must be a whole number .*, not "many"'),
        ("load.users", r'--set "load.users" is not KEY=VALUE; give it as in --set system'),
        ("load.users=", r"is not KEY=VALUE"),
        ("=5", r"is not KEY=VALUE"),
        ("a b=5", r"is not KEY=VALUE"),
        ("load.think=5s", r"load\.think is a factor there.*'factors\.\"load\.think\"=\[\.\.\.\]'"),
        ("load.users.max=5", r"load\.users is 10 there and no table"),
    ],
)
def test_what_cannot_be_set_is_a_sentence(file: Path, assignment: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        trials(file, assignment)
