"""Every table that an experiment file may hold, and every key of theirs, read off the models.

A file without a mistake needs none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tierlab.experiment.change import Change
from tierlab.experiment.disturb import Random
from tierlab.experiment.disturb_classes import KINDS
from tierlab.experiment.disturbance import Timed
from tierlab.experiment.document import ExperimentFile
from tierlab.experiment.keys import ANY_NAME, Table, merged, tables
from tierlab.experiment.system import SYSTEMS, System
from tierlab.values.word import Word
from tierlab.workloads.kinds import WORKLOADS

_FORMS = tuple(tables(ExperimentFile))
TABLES = merged(_FORMS)
"""Every table of the file by its path."""

SOFT = {
    path: tuple({each.meaning: each for each in _FORMS if each.path == path}.values())
    for path in TABLES
    if path[-1:] == ("soft",)
}
"""The tables of soft resources, by their path: one for each software that the tier may be."""


def tables_of(workload: str) -> dict[tuple[str, ...], Table]:
    """Every table of a file with this workload on its usual software."""
    usual: dict[tuple[str, ...], Table] = {}
    for table in tables(ExperimentFile, systems=[SYSTEMS[workload]]):
        usual.setdefault(table.path, table)
    return usual


DISTURBANCES = {kind: next(tables(model, "disturb", kind)) for kind, model in KINDS.items()} | {
    "random": next(tables(Random, "disturb", "random"))
}
"""The tables that the array `disturb` may hold, by class."""

CHANGE = next(tables(Change, "change"))
"""The table that the array `change` holds."""


class _Common(Timed):
    class_: Annotated[str, Word(tuple(DISTURBANCES))] = Field(alias="class", examples=["random"])


COMMON = {key.path[-1]: key for key in next(tables(_Common, "disturb")).keys}
"""The keys that all of them have."""


def named_tables(document: Mapping[str, Any]) -> dict[str, str]:
    """The tables below `[system]` that this file names itself, each with what stands for it."""
    system = document.get("system")
    if not isinstance(system, dict) or WORKLOADS.get(str(system.get("workload"))) is None:
        return {}
    workload = WORKLOADS[system["workload"]]
    if workload.any_tier is None:
        return {}
    known = {*System.model_fields, *workload.tables}
    return {
        name: ANY_NAME
        for name, each in system.items()
        if isinstance(each, dict) and name not in known
    }


def keys_of(document: Mapping[str, Any]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The names that each table of this file knows, as `KEYS`."""
    found = dict(KEYS)
    for name, stands_for in named_tables(document).items():
        for path, names in KEYS.items():
            if path[:2] == ("system", stands_for):
                found["system", name, *path[2:]] = names
    return found


KEYS = {table.path: table.names for table in (*TABLES.values(), *DISTURBANCES.values(), CHANGE)} | {
    ("disturb", "class"): tuple(DISTURBANCES)
}
"""The names that each table knows, by its path, and the classes of disturbances."""
