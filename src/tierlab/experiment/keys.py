"""Every key that an experiment file may have, read off the models.

Error sentences, the factors' check, `tierlab init` and the reference page all use this one walk.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic.fields import FieldInfo

from tierlab.experiment.factors import Factors
from tierlab.experiment.system import SYSTEMS, System
from tierlab.experiment.tier import Tier, tier_field
from tierlab.servers.base import Server
from tierlab.values.kinds import Kind
from tierlab.values.section import Section, meanings

ANY_NAME = "NAME"
"""In place of a name that the file gives; none that it may give is in capitals."""


@dataclass(frozen=True)
class Key:
    """A key by its path, what it takes (shortly, and in JSON Schema) and its meaning.

    `default` and `example` (for a key that has no default) are as a file would have them.
    """

    path: tuple[str, ...]
    takes: str
    schema: dict[str, Any]
    default: Any
    example: Any
    required: bool
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table of the file by its path, its meaning and the keys that it knows."""

    path: tuple[str, ...]
    meaning: str
    keys: tuple[Key, ...]
    tables: tuple[str, ...] = ()
    arrays: tuple[str, ...] = ()
    """Arrays of tables, whose keys are those of the tables' classes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Keys, and tables and arrays of tables below."""
        return tuple(key.path[-1] for key in self.keys) + self.tables + self.arrays


def tables(
    model: type[Section],
    *path: str,
    systems: Sequence[type[System]] = tuple(SYSTEMS.values()),
) -> Iterator[Table]:
    """The model's own table, then those below it; of the system, the tiers of each of `systems`.

    A path comes several times where its table has several forms.
    """
    below: list[tuple[str, type[Section]]] = []
    arrays: list[str] = []
    keys: list[Key] = []
    for name, field in _fields(model):
        key = field.alias or name
        forms = _sections(field.annotation)
        if typing.get_origin(field.annotation) is list:
            arrays.append(key)
        elif forms:
            below += [(key, form) for form in forms]
        else:
            meaning = field.description or meanings(model).get(name, "")
            keys.append(_key((*path, key), field, meaning))
    if model is System:
        below += [pair for each in systems for pair in _tiers(each)]
        for own in dict.fromkeys(each.application.keys for each in systems):
            keys += [] if own is None else _own_keys(own, *path)
    names = tuple(dict.fromkeys(name for name, _ in below))
    soft = ("soft",) if issubclass(model, Tier) else ()
    meaning = " ".join((model.__doc__ or "").split())
    yield Table(path, meaning, tuple(keys), (*names, *soft), tuple(arrays))
    for key, section in below:
        yield from tables(section, *path, key, systems=systems)
    if issubclass(model, Tier) and model.software.soft_resources:
        yield _soft(model.software, *path, "soft")


def _own_keys(model: type[Section], *path: str) -> list[Key]:
    """Those that only one workload has."""
    texts = meanings(model)
    return [_key((*path, name), field, texts[name]) for name, field in _fields(model)]


def merged(found: Iterable[Table]) -> dict[tuple[str, ...], Table]:
    """The tables by path, each with the keys of all its forms."""
    by_path: dict[tuple[str, ...], Table] = {}
    for table in found:
        before = by_path.get(table.path)
        by_path[table.path] = table if before is None else _both(before, table)
    return by_path


def _both(one: Table, other: Table) -> Table:
    keys = {key.path: key for key in one.keys}
    for key in other.keys:
        keys[key.path] = _either(keys[key.path], key) if key.path in keys else key
    below = tuple(dict.fromkeys((*one.tables, *other.tables)))
    return replace(one, keys=tuple(keys.values()), tables=below)


def _either(one: Key, other: Key) -> Key:
    """A key that takes what either takes."""
    if one.schema == other.schema:
        return one
    if "enum" in one.schema:
        words = dict.fromkeys((*one.schema["enum"], *other.schema["enum"]))
        takes = ", ".join(f'"{word}"' for word in words)
        return replace(one, takes=takes, schema={"enum": list(words)})
    forms = one.schema.get("anyOf", [one.schema])
    if other.schema in forms:
        return one
    takes = f"{one.takes}, or {other.takes}"
    return replace(one, takes=takes, schema={"anyOf": [*forms, other.schema]})


def _fields(model: type[Section]) -> Iterator[tuple[str, FieldInfo]]:
    """What of a model is a key or a table."""
    hidden = {"levels"} if model is Factors else {"soft"} if issubclass(model, Tier) else set()
    for name, field in model.model_fields.items():
        if name not in hidden and not field.exclude:
            yield name, field


def _tiers(system: type[System]) -> Iterator[tuple[str, type[Section]]]:
    """Each of its tiers and its workload's own tables, in each form."""
    application = system.application
    for name in (*application.tiers, *application.tables):
        for form in _sections(system.model_fields[name].annotation):
            yield name, form
    if application.any_tier is not None:
        for form in _sections(_bare(tier_field(application.any_tier)[0])):
            yield ANY_NAME, form


def _soft(software: type[Server], *path: str) -> Table:
    values = software.complete({}, {})
    keys = tuple(
        Key(
            (*path, resource.name),
            resource.kind.range(),
            resource.kind.json_schema(),
            resource.kind.write(values[resource.name]),
            None,
            False,
            f"{resource.directive}: {resource.meaning}",
        )
        for resource in software.soft_resources.values()
    )
    return Table(path, f"Soft resources of {software.kind}.", keys)


def _sections(annotation: Any) -> list[type[Section]]:
    """The forms of the table that a field holds, optional or not; the system's are one."""
    bare = map(_bare, (annotation, *typing.get_args(annotation)))
    forms = [kind for kind in bare if isinstance(kind, type) and issubclass(kind, Section)]
    return [System] if any(issubclass(form, System) for form in forms) else forms


def _bare(kind: Any) -> Any:
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind


def _key(path: tuple[str, ...], field: FieldInfo, meaning: str) -> Key:
    kind = next((m for m in field.metadata if isinstance(m, Kind)), None)
    default = None if field.is_required() else field.get_default(call_default_factory=True)
    if kind is not None and default is not None:
        default = kind.write(default)
    takes, schema = _plain(field.annotation) if kind is None else (kind.range(), kind.json_schema())
    example = (field.examples or [None])[0]
    words = " ".join(meaning.split())
    return Key(path, takes, schema, default, example, field.is_required(), words)


def _plain(annotation: Any) -> tuple[str, dict[str, Any]]:
    """What a key without a kind of its own takes: true or false, or one of some words."""
    if annotation is bool:
        return "true or false", {"type": "boolean"}
    if type(None) in typing.get_args(annotation):
        (annotation,) = set(typing.get_args(annotation)) - {type(None)}
    if typing.get_origin(annotation) is Literal:
        words = typing.get_args(annotation)
        return ", ".join(f'"{word}"' for word in words), {"enum": list(words)}
    raise TypeError(f"{annotation} says nothing of its values; give the key a kind")
