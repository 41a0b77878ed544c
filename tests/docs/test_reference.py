"""The reference has everything that there is: keys, columns, verbs and options."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pages import DOCS, section

from tierlab.cli.verbs import Verbs
from tierlab.tables.manifest import Manifest
from tierlab.tables.schemas import PROFILE, SCHEMAS, TABLES, THREADS


def test_the_reference_has_every_key_of_the_manifest() -> None:
    rows = re.findall(r"^\| (`.+?) \|", section("run-folder.md", "manifest.json"), re.MULTILINE)
    documented = {key.strip("` ") for row in rows for key in row.split(",")}

    assert documented == set(Manifest.model_fields)


TYPES = {
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "double": "float64",
    "string": "text",
    "list<item: string>": "texts",
}


@pytest.mark.parametrize("table", list(SCHEMAS | PROFILE | THREADS))
def test_the_reference_has_every_column_with_its_type(table: str) -> None:
    row = re.compile(r"^\| `(\w+)` \| ((?:int\d+|float64|texts?)(?:, null)?) \|", re.MULTILINE)
    rows = row.findall(section("run-folder.md", table))
    columns = [
        (field.name, TYPES[str(field.type)] + (", null" if field.nullable else ""))
        for field in TABLES[table]
    ]

    assert rows == columns


def verbs() -> dict[str, Any]:
    found: dict[str, Any] = {}
    main = Verbs(name="tierlab")
    for verb in main.list_commands(None):
        command = main.get_command(None, verb)
        parts = getattr(command, "commands", None)
        found |= (
            {f"{verb} {part}": each for part, each in parts.items()} if parts else {verb: command}
        )
    return found


def test_the_reference_has_every_verb() -> None:
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    documented = re.findall(r"^## tierlab ([a-z]+(?: [a-z]+)?)", text, re.MULTILINE)

    assert sorted(documented) == sorted(verbs())


@pytest.mark.parametrize("verb", sorted(verbs()))
def test_the_reference_has_every_option(verb: str) -> None:
    command = verbs()[verb]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    names = [argument.name.upper() for argument in arguments if argument.name]
    options = [o for p in command.params for o in p.opts if o.startswith("--") and o != "--help"]
    shown = [n if a.required else f"[{n}]" for n, a in zip(names, arguments, strict=True)]
    heading = " ".join(["tierlab", verb, *shown])

    rows = re.findall(r"^\| `([^` ]+)", section("cli.md", heading), re.MULTILINE)

    assert sorted(rows) == sorted(names + options)
