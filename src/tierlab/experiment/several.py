"""`[[system]]`: several systems on one machine, each with users of its own.

Each is checked as if it were alone: with the file's other tables, and with its `load` completed by
the phases, which all have in common. A table with `count` stands for so many alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tierlab.experiment.by_name import COUNT
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
NUMBERED = r"[a-z][a-z0-9]{0,6}"
NUMBERED_WORDS = "up to 7 lower-case letters and digits, the first a letter, as a number follows it"
"""Of the name where there is a `count`."""
ALIKE = ("environment", "tcp")
"""Keys of a system that are the machine's: all systems have the same."""
ALONE = ("neighbours", "mapping")
"""Keys of a system that only goes alone."""
OF_SEVERAL = ("name", COUNT, "load")
"""Keys of one of several systems that `[system]` has not."""
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
            files += [(name, file) for name in _names(table)]
    return tuple(files), found


def _names(table: Mapping[str, Any]) -> list[str]:
    """What the systems of one table are called: with `count`, even of 1, they are numbered."""
    name, count = str(table.get("name")), table.get(COUNT)
    if count is None:
        return [name]
    return [f"{name}{number}" for number in range(1, count + 1)] if _is_count(count) else []


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST


def _problems(document: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is wrong with the systems together."""
    systems, load = document["system"], document.get("load", {})
    if not 1 <= len(systems) <= MOST:
        yield Mistake(("system",), f"must be 1 to {MOST} tables, not {len(systems)}")
    elif (stated := sum(len(_names(each)) for each in systems if isinstance(each, dict))) > MOST:
        yield Mistake(("system",), f"makes {stated} systems; at most {MOST} are run")
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
    form, words = (NUMBERED, NUMBERED_WORDS) if COUNT in table else (NAME, NAME_WORDS)
    if name is None:
        yield Mistake((at, "name"), "is missing")
    elif not isinstance(name, str) or not re.fullmatch(form, name):
        yield Mistake((at, "name"), f"must be {words}, not {shown(name)}")
    else:
        made = (name, *_names(table))
        for each in made:
            if each in names:
                called = "" if each == name else f", as {shown(each)}"
                yield Mistake((at, "name"), f"is {names[each]}'s too{called}; give each its own")
                return
        names.update(dict.fromkeys(made, at))


def _own_problems(at: str, table: Mapping[str, Any], systems: Sequence[Any]) -> Iterator[Mistake]:
    load, count = table.get("load"), table.get(COUNT, 1)
    if not _is_count(count):
        yield Mistake((at, COUNT), f"must be a whole number from 1 to {MOST}, not {shown(count)}")
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
    own = {key: value for key, value in table.items() if key not in (*OF_SEVERAL, *ALONE)}
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
