"""What counts as an answer to a trouble that no injector makes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from outside import Answer, Judged, Made, judge, markdown, shares
from trouble import Trouble
from troubles import TROUBLES

from . import made_stall
from .made_stall import STALL
from .signatures import SIGNATURES


def trouble(name: str) -> Trouble:
    return next(each for each in TROUBLES["rubbos"] if each.name == name)


DUMP = trouble("dump")


def answer(cause: str, tier: str = "db") -> Answer:
    return Answer(DUMP, Made(DUMP.name, 0, 1), cause, tier)


@pytest.mark.parametrize(
    ("cause", "tier", "kind"),
    [
        ("lock", "db", "right"),
        ("lock", "app", "elsewhere"),
        ("freeze", "db", "wrong"),
        ("unknown", "web", "unknown"),
        ("", "", "missed"),
    ],
)
def test_an_answer_is_right_at_the_right_tier_only(cause: str, tier: str, kind: str) -> None:
    assert answer(cause, tier).kind == kind


def test_what_was_missed_is_neither_good_nor_a_wrong_name() -> None:
    answers = [answer("lock"), answer("unknown"), answer(""), answer("freeze")]
    assert shares([*answers, answer("lock", "app")]) == (0.4, 0.2)
    assert shares(answers) == (0.5, 0.25)
    table = markdown(TROUBLES["rubbos"], Judged(answers, Counter({"reload": 3})))
    assert "| 4 | 1 | 1 | 1 | 0 | 1 freeze at db | 0 |" in table
    assert "| 0 | 0 | 0 | 0 | 0 | 0 | 3 |" in table
    assert "Right or unknown: 0.50 (bar 0.9); a wrong name: 0.25" in table
    assert "Left out: 0 windows" in table


def judged(tmp_path: Path, name: str) -> Judged:
    """The answers where a machine's disk stood still while that trouble was made."""
    _, subject, samples, extra = SIGNATURES["disk"]
    disk = [{"subject": "vda", "in_flight": 3}]
    run = made_stall.make(tmp_path, subject, samples | {"disk": disk}, extra)
    found = Judged()
    judge(found, run, [Made(name, *STALL)], TROUBLES["rubbos"])
    return found


def test_a_disk_that_stood_still_by_nobodys_doing_was_a_wrong_answer(tmp_path: Path) -> None:
    """The proof of injected disturbances leaves it out; what was felt is missed then."""
    found = judged(tmp_path, "reports")
    assert [each.kind for each in found.answers] == ["missed"]
    assert (found.windows, found.left_out) == (1, Counter(reports=1))
    below = markdown(TROUBLES["rubbos"], found).splitlines()[-1]
    assert below == (
        "Left out: 1 windows of a disk that stood still by nobody's doing; "
        "first answers of 1 reports."
    )


@pytest.mark.parametrize(("name", "kind"), [("heap-dump", "wrong"), ("dump", "right")])
def test_a_trouble_that_writes_is_no_excuse_for_the_disk(
    tmp_path: Path, name: str, kind: str
) -> None:
    found = judged(tmp_path, name)
    assert [each.kind for each in found.answers] == [kind]
    assert (found.windows, found.left_out) == (0, Counter())
