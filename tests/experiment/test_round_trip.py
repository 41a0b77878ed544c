"""A plan written as a file and read again is the same plan; quantities likewise."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from experiment_files import FILES
from hypothesis import given
from hypothesis import strategies as st

from tierlab.experiment import Experiment
from tierlab.values.quantities import (
    BYTES,
    NANOSECONDS,
    format_duration,
    format_size,
    parse_quantity,
)


def as_toml(tables: dict[str, Any]) -> str:
    """Top-level tables as inline ones. JSON writes DEL as it is, TOML must not."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key} = {written(v)}" for key, v in value.items()) + "}"
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")

    return "".join(f"{key} = {written(table)}\n" for key, table in tables.items())


@given(FILES)
def test_a_plan_written_and_read_again_is_the_same(file: dict[str, Any]) -> None:
    (plan,) = Experiment.from_tables(file).trials()

    again = tomllib.loads(as_toml(plan.as_file()))

    assert Experiment.from_tables(again).trials() == (plan,)


@given(FILES)
def test_what_the_file_says_is_what_the_plan_writes(file: dict[str, Any]) -> None:
    (plan,) = Experiment.from_tables(file).trials()
    written = plan.as_file()

    for name, table in file["system"].get("web", {}).get("soft", {}).items():
        assert written["system"]["web"]["soft"][name] == table
    for name in ("users", "rate", "images", "mix", "think", "cycle"):
        if name in file["load"]:
            assert written["load"][name] == file["load"][name]


@given(st.integers(0, 10**18))
def test_durations(nanoseconds: int) -> None:
    assert parse_quantity(format_duration(nanoseconds), NANOSECONDS) == nanoseconds


@given(st.integers(0, 2**50))
def test_sizes(size: int) -> None:
    assert parse_quantity(format_size(size), BYTES) == size


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_none(text: str) -> None:
    parsed = parse_quantity(text, NANOSECONDS)

    assert parsed is None or (parsed >= 0 and text[0].isascii() and text[0].isdigit())
