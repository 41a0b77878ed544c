"""The reference page and the JSON Schema of experiment files, written from the models.

`python -m tierlab.experiment.publish docs/reference` renews both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tierlab.experiment.by_name import COUNT
from tierlab.experiment.catalogue import CHANGE, COMMON, DISTURBANCES, SOFT, TABLES
from tierlab.experiment.keys import ANY_NAME, Key, Table
from tierlab.experiment.several import ALIKE, ALONE, MOST, NAME, NAME_WORDS
from tierlab.values.quantities import BYTES, NANOSECONDS
from tierlab.values.toml import as_toml
from tierlab.workloads.kinds import WORKLOADS

PAGE = "experiment.md"
SCHEMA = "experiment.schema.json"
INTRODUCTION = f"""\
# Experiment files

An experiment file is TOML. Three keys have to be there: `experiment.name`, `system.workload`, and
`load.users` or `load.rate` (or `load.speed`); all others have defaults. `tierlab init FILE` writes
a file with every key that RUBBoS on its usual servers has. For editors there is a JSON Schema,
[{SCHEMA}]({SCHEMA}): `#:schema PATH` in the first line points to it.

Durations are text with a unit ({", ".join(NANOSECONDS)}): `"500ms"`. So are sizes
({", ".join(BYTES)}): `"2GiB"`.
A key that is not listed here is an error, and so is a value out of its range: `tierlab run` names
the file, the key and what is allowed, and starts nothing.

This page is written by `python -m tierlab.experiment.publish docs/reference`.
"""
FACTORS = """\
Any other key of this table is a dotted key of `system`, `load` or `observe`, in quotes, with a list
of its levels. Every combination of levels is a trial and is checked like a file of its own before
the first one starts. Trials are named 001, 002, ... in the order in which they run; the first key
varies slowest. A repetition is a complete block: every combination once before any comes again, so
that a drift of the machine falls on all levels alike. All combinations of a repetition have the
same seed, and so the same users with the same wishes.
"""
DISTURB = """\
## [[disturb]]

Faults that Tierlab injects into the runtime, so that the truth is known: one table each, as many as
are wanted. The truth (what was done when) is written beside the run folder, to `<trial>.truth/`,
and never into it; nothing that reads a run folder can see it. [How to disturb a
trial](../how-to/disturb.md) says more. Each class has keys of its own beside these:
"""
CHANGES = """\
## [[change]]

What a server may use is changed while the trial runs: one table for each moment and server. What is
then in force is read back; a difference fails the trial. The report shows what each did. [How to
change a running system](../how-to/change.md) says more.
"""
SEVERAL_SYSTEMS = f"""\
## [[system]]

Instead of `[system]`: several systems on one machine, at most {MOST}, one table each. Each has the
keys and tables of `[system]`, but for `{"` and `".join(ALONE)}`, and besides them:

| key | takes | default | meaning |
|---|---|---|---|
| `name` | {NAME_WORDS} | required | Of its servers too: `NAME.web.1` and so on. |
| `{COUNT}` | 1 to {MOST} | none | So many alike, their names numbered: `NAME1.web.1` and so on. |
| `load` | a table | required | Its users: `[load]` without `phases`, which are common to all. |

`[load]` then has `phases` alone; `{"` and `".join(ALIKE)}` are the same for all. There is no
`[[disturb]]` and no `[[change]]`. A factor, or `--set`, names the system: `system.shop.load.users`,
`system.shop.{COUNT}`.
[How to run several systems on one machine](../how-to/several-systems.md) says more.
"""
OF_WORKLOADS = {ANY_NAME, *(name for each in WORKLOADS.values() for name in each.tables)}
"""Tables that a file of another workload has not."""
TIERS = tuple(dict.fromkeys(name for each in WORKLOADS.values() for name in each.tiers))
NAMING = [each.name for each in WORKLOADS.values() if each.any_tier is not None]
"""The workloads whose servers the file names, as it may name one like another workload's tier."""
ANY_TIER = {"$ref": "#/properties/system/additionalProperties"}
LEVELS = {
    "anyOf": [
        {"type": "array", "minItems": 1, "uniqueItems": True, "description": "Levels."},
        {"type": "object"},
    ]
}
"""Of a factor: a list, or (its dotted key unquoted) a table down to lists."""


def schema() -> dict[str, Any]:
    """JSON Schema of an experiment file."""
    title = "Tierlab experiment"
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": title} | _object(())


def _object(path: tuple[str, ...]) -> dict[str, Any]:
    """The table at this path."""
    table = TABLES[path]
    below = {name: _object((*path, name)) for name in table.tables}
    arrays = {name: ARRAYS[name] for name in table.arrays}
    required = [key.path[-1] for key in table.keys if key.required]
    required += [n for n, part in below.items() if "required" in part and n not in OF_WORKLOADS]
    others: dict[str, Any] | bool = below.pop(ANY_NAME, False)
    if isinstance(others, dict):
        others = {key: value for key, value in others.items() if key != "required"}
    if path == ("system",):
        below |= {name: {"anyOf": [below[name], ANY_TIER]} for name in TIERS}
    if not path:
        below["system"] |= _several(below["system"], below["load"]) | _by_workload()
    return (
        {"type": "object", "description": table.meaning}
        | {"properties": _properties(table) | below | arrays}
        | ({"required": required} if required else {})
        | {"additionalProperties": LEVELS if path == ("factors",) else others}
    )


def _several(system: dict[str, Any], load: dict[str, Any]) -> dict[str, Any]:
    """What makes of the system's table an array of systems as well."""
    own = {key: _same("system", key) for key in system["properties"] if key not in ALONE}
    users = {key: _same("load", key) for key in load["properties"] if key != "phases"}
    name = {"type": "string", "pattern": f"^{NAME}$", "description": f"Its own: {NAME_WORDS}."}
    count = {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST,
        "description": "So many alike; the name is numbered.",
    }
    item = {
        "type": "object",
        "properties": {"name": name, COUNT: count} | own | {"load": load | {"properties": users}},
        "required": ["name", *system["required"], "load"],
        "additionalProperties": ANY_TIER,
    } | _by_workload()
    return {"type": ["object", "array"], "minItems": 1, "maxItems": MOST, "items": item}


def _by_workload() -> dict[str, Any]:
    """Of which form the tables are that have a tier's name: the workload says."""
    named = {name: {"$ref": f"#/properties/system/properties/{name}/anyOf/0"} for name in TIERS}
    return {
        "if": {"properties": {"workload": {"enum": NAMING}}},
        "then": {"properties": dict.fromkeys(TIERS, ANY_TIER)},
        "else": {"properties": named},
    }


def _same(table: str, key: str) -> dict[str, str]:
    return {"$ref": f"#/properties/{table}/properties/{key}"}


def _properties(table: Table) -> dict[str, Any]:
    return {key.path[-1]: _property(key) for key in table.keys}


def _property(key: Key) -> dict[str, Any]:
    default = {} if key.default is None else {"default": key.default}
    examples = {} if key.example is None else {"examples": [key.example]}
    return key.schema | {"description": key.meaning} | default | examples


def _item(table: Table, *required: str) -> dict[str, Any]:
    """One table of an array."""
    return {
        "type": "object",
        "description": table.meaning,
        "properties": _properties(table),
        "required": [*required],
        "additionalProperties": False,
    }


ARRAYS = {
    "change": {"type": "array", "items": _item(CHANGE, "at", "on")},
    "disturb": {
        "type": "array",
        "items": {"oneOf": [_item(table, "class") for table in DISTURBANCES.values()]},
    },
}
"""The arrays of tables, by name."""


def reference() -> str:
    """The reference page, in Markdown."""
    parts = [INTRODUCTION]
    for path, table in TABLES.items():
        if path == ("factors",):
            parts += [CHANGES + "\n".join(_keys(CHANGE.keys)) + "\n", *_disturbances()]
        if path == ("load",):
            parts.append(SEVERAL_SYSTEMS)
        if path:
            forms = SOFT.get(path, (table,))
            parts += ["\n".join(_table(each, len(forms) > 1)) + "\n" for each in forms]
    return "\n".join(parts)


def _disturbances() -> Iterator[str]:
    yield DISTURB + "\n".join(_keys(COMMON.values())) + "\n"
    for kind, table in DISTURBANCES.items():
        own = [key for key in table.keys if key.path[-1] not in COMMON]
        yield "\n".join([f'### class = "{kind}"', "", table.meaning, *_keys(own)]) + "\n"


def _table(table: Table, is_one_of_several: bool) -> Iterator[str]:
    heading = f"## [{'.'.join(table.path)}]"
    if is_one_of_several:
        yield f"{heading}: {table.meaning[0].lower()}{table.meaning[1:].rstrip('.')}"
    else:
        yield f"{heading}\n\n{table.meaning}"
    if table.path == ("factors",):
        yield f"\n{FACTORS.rstrip()}"
    yield from _keys(table.keys)
    if table.path == ("load",):
        yield from _mixes()


def _keys(keys: Collection[Key]) -> Iterator[str]:
    if keys:
        yield "\n| key | takes | default | meaning |\n|---|---|---|---|"
    for key in keys:
        cells = (f"`{key.path[-1]}`", key.takes, _default(key), key.meaning)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _mixes() -> Iterator[str]:
    yield "\n| workload | its mixes, the usual one first |\n|---|---|"
    for each in WORKLOADS.values():
        usual = sorted(each.mixes, key=lambda mix: mix != each.usual_mix)
        if usual:
            yield f"| {each.name} | {', '.join(f'`{mix}`' for mix in usual)} |"


def _default(key: Key) -> str:
    if key.required:
        return "required"
    return "none" if key.default is None else f"`{as_toml(key.default)}`"


def main(folder: Path) -> None:
    """Write both files into the folder."""
    (folder / PAGE).write_text(reference(), encoding="utf-8")
    text = json.dumps(schema(), indent=2, ensure_ascii=False)
    (folder / SCHEMA).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
