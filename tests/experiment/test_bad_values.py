"""Every wrong value gives one clear sentence: file, key, what is allowed."""

from __future__ import annotations

from typing import Any

import pytest
from bad_values import CASES, GOOD, changed

from tierlab.errors import UserError
from tierlab.experiment import Experiment


@pytest.mark.parametrize(
    ("key", "value", "sentence"), CASES, ids=[f"{k}={v}"[:60] for k, v, _ in CASES]
)
def test_one_sentence(key: str, value: Any, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(changed(key, value), "my.toml")

    assert str(raised.value) == f"my.toml: {sentence}."


def test_a_bad_level_names_its_combination() -> None:
    document = GOOD | {"factors": {"load.users": [10, -10], "load.mix": ["browse-only"]}}

    with pytest.raises(UserError) as raised:
        Experiment.from_tables(document, "my.toml")

    assert str(raised.value) == (
        'my.toml with load.users = -10, load.mix = "browse-only": '
        "load.users must be a whole number from 1 to 1000000, not -10."
    )


def test_a_sweep_over_threads_does_not_change_the_process_model_in_silence() -> None:
    document = GOOD | {"factors": {"system.web.soft.threads": [64, 67]}}

    with pytest.raises(
        UserError, match=r"67: event's .* take 66 or 68, or set threads_per_process"
    ):
        Experiment.from_tables(document, "my.toml")


def test_too_many_trials_are_refused_before_they_are_made() -> None:
    crossed = {f"system.{tier}.soft.backlog": list(range(1, 1001)) for tier in ("web", "lb", "db")}

    with pytest.raises(UserError, match=r"^my.toml: factors make 1000000000 trials; at most"):
        Experiment.from_tables(GOOD | {"factors": crossed}, "my.toml")


def test_control_characters_do_not_reach_the_terminal() -> None:
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(changed("load.mix", "\x1b[31mred\x00\n"), "my.toml")

    assert str(raised.value).isprintable()
