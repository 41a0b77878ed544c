"""`[[system]]`: several systems on one machine, each with users of its own.

Each is checked as if it were alone: with the file's other tables, and with its `load` completed by
the phases, which all have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tierlab.experiment.document import ExperimentFile
from tierlab.experiment.mistakes import checked
from tierlab.experiment.problem import Mistake, shown
from tierlab.experiment.system import System

Named = tuple[str, ExperimentFile]
"""A system's name, empty where it is the only one, and its file as if it were alone."""

MOST = 8
NAME = r"[a-z][a-z0-9]{0,7}"
"""Short: it is part of its servers' names, and these of network interfaces'."""
NAME_WORDS = "up to 8 lower-case letters and digits, the first a letter"
ALIKE = ("environment", "tcp")
"""Keys of a system that are the machine's: all systems have the same."""
ALONE = ("neighbours", "mapping")
"""Keys of a system that only goes alone."""
EVENTS = ("disturb", "change")
NOT_YET = "is not there yet for several systems; remove it"


def are_several(document: Mapping[str, Any]) -> bool:
    """Whether the file has `[[system]]` and not `[system]`."""
    return isinstance(document.get("system"), list)


def with_environment(document: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """A copy of the file's tables in which each of several systems is in this environment."""
    systems = [
        {**each, "environment": environment} if isinstance(each, dict) else each
        for each in document["system"]
    ]
    return {**document, "system": systems}


def checked_each(
    document: Mapping[str, Any], folder: Path = Path()
) -> tuple[tuple[Named, ...], list[Mistake]]:
    """Each system of the file, with one level of each factor in its tables, and what is wrong.

    Where anything is, the systems are those that are right. `folder` is the file's.
    """
    if not are_several(document):
        file, found = checked(document, folder)
        return () if file is None else (("", file),), found
    found = list(_problems(document))
    files = []
    for number, table in enumerate(document["system"], start=1):
        if not isinstance(table, dict):
            continue
        file, wrong = checked(_alone(document, table), folder)
        placed = (_placed(each, number) for each in wrong)
        found += [each for each in placed if each not in found]
        if file is not None:
            files.append((str(table.get("name")), file))
    return tuple(files), found


def _problems(document: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is wrong with the systems together."""
    systems, load = document["system"], document.get("load", {})
    if not 1 <= len(systems) <= MOST:
        yield Mistake(("system",), f"must be 1 to {MOST} tables, not {len(systems)}")
    if isinstance(load, dict):
        for key in load:
            if key != "phases":
                yield Mistake(("load", key), "is each system's own; say it in the `load` of each")
    for key in EVENTS:
        if document.get(key):
            yield Mistake((key,), NOT_YET)
    names: dict[object, str] = {}
    for number, table in enumerate(systems, start=1):
        at = f"system[{number}]"
        if not isinstance(table, dict):
            yield Mistake((at,), f"must be a table, not {shown(table)}")
            continue
        yield from _name_problems(at, table, names)
        yield from _own_problems(at, table, systems)


def _name_problems(
    at: str, table: Mapping[str, Any], names: dict[object, str]
) -> Iterator[Mistake]:
    name = table.get("name")
    if name is None:
        yield Mistake((at, "name"), "is missing")
    elif not isinstance(name, str) or not re.fullmatch(NAME, name):
        yield Mistake((at, "name"), f"must be {NAME_WORDS}, not {shown(name)}")
    elif name in names:
        yield Mistake((at, "name"), f"is {names[name]}'s too; give each its own")
    else:
        names[name] = at


def _own_problems(at: str, table: Mapping[str, Any], systems: Sequence[Any]) -> Iterator[Mistake]:
    load = table.get("load")
    if isinstance(load, dict) and "phases" in load:
        yield Mistake((at, "load", "phases"), "is the same for all; say it in `load.phases`")
    for key in ALONE:
        if key in table:
            yield Mistake((at, key), NOT_YET)
    first = systems[0] if isinstance(systems[0], dict) else {}
    for key in ALIKE:
        usual = System.model_fields[key].default
        if (wanted := first.get(key, usual)) != table.get(key, usual):
            yield Mistake((at, key), f"must be {shown(wanted)}, as of the first system")


def _alone(document: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """The file as if it had this system only."""
    rest = {key: value for key, value in document.items() if key not in EVENTS}
    own = {key: value for key, value in table.items() if key not in ("name", "load", *ALONE)}
    load, common = table.get("load", {}), document.get("load", {})
    if isinstance(load, dict):
        load = {key: value for key, value in load.items() if key != "phases"}
        if isinstance(common, dict):
            load |= {key: value for key, value in common.items() if key == "phases"}
    return rest | {"system": own, "load": load}


def _placed(mistake: Mistake, number: int) -> Mistake:
    """The mistake of a system as the file has it."""
    table, *below = mistake.key
    if table == "system":
        return Mistake((f"system[{number}]", *below), mistake.text)
    if table == "load" and below[:1] != ["phases"]:
        return Mistake((f"system[{number}]", "load", *below), mistake.text)
    return mistake
