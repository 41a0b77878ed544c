"""What counts as an answer to a trouble that no injector makes."""

from __future__ import annotations

from collections import Counter

import pytest
from outside import Answer, Made, markdown, shares
from troubles import TROUBLES

DUMP = next(each for each in TROUBLES["rubbos"] if each.name == "dump")


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
    table = markdown(TROUBLES["rubbos"], answers, Counter({"reload": 3}))
    assert "| 4 | 1 | 1 | 1 | 0 | 1 freeze at db | 0 |" in table
    assert "| 0 | 0 | 0 | 0 | 0 | 0 | 3 |" in table
    assert "Right or unknown: 0.50 (bar 0.9); a wrong name: 0.25" in table
