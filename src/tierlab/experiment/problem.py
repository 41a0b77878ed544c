"""From wrong values to what people read: file, key, what was wrong, what is allowed."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from tierlab.errors import UserError
from tierlab.values.problem import problem, raise_all

__all__ = [
    "FORM",
    "Mistake",
    "Path",
    "closest",
    "dotted",
    "mistakes",
    "problem",
    "raise_all",
    "shown",
    "told",
    "unknown_key",
]

Path = tuple[str, ...]
FORM = "\0"
"""Before the name of one of a table's forms (its workload's, its software's): no key has it."""
_BARE = re.compile(r"\w+(\[[0-9]+\])?")


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong in a file: the key by its path, and how the sentence goes on."""

    key: Path
    text: str

    def __str__(self) -> str:
        """The sentence, without its full stop."""
        return f"{dotted(self.key)} {self.text}"


def unknown_key(key: str, allowed: Iterable[str], *at: str) -> PydanticCustomError:
    """An error for a key that is not one of `allowed`, with the likeliest one meant."""
    return problem(_unknown(key, list(allowed)), *at, key)


def mistakes(
    error: ValidationError, keys: Mapping[Path, Sequence[str]], *above: str
) -> list[Mistake]:
    """All mistakes that validation found, misspelt keys first: they may be why another is missing.

    `keys` are the keys that each table of the file knows; `above` is the table that was validated.
    """
    details = error.errors(include_url=False)
    details.sort(key=lambda detail: detail["type"] != "extra_forbidden")
    return [each for detail in details for each in _explain(detail, keys, above)]


def told(source: str, found: Mapping[Mistake, str]) -> UserError:
    """The mistakes of a file, each a line where there are several.

    They are given with the levels that bring them about (`load.users = -10`), empty where any do.
    """
    if len(found) == 1:
        ((mistake, levels),) = found.items()
        return UserError(f"{source}{f' with {levels}' if levels else ''}: {mistake}.")
    lines = (
        f"{f'with {levels}: ' if levels else ''}{mistake}." for mistake, levels in found.items()
    )
    return UserError("\n  ".join([f"{source}: {len(found)} mistakes:", *lines]))


def dotted(path: Sequence[str]) -> str:
    """`("load", "think")` as `load.think`; parts with dots or blanks are quoted."""
    return ".".join(p if _BARE.fullmatch(p) else shown(p) for p in path)


def shown(value: object) -> str:
    """A value as a file would have it, shortened, on one line."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= 60 else f"{text[:57]}..."


def closest(word: str, words: Iterable[str]) -> str:
    """` (did you mean x?)`, or nothing when no word is near."""
    near = difflib.get_close_matches(word, list(words), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _unknown(key: str, allowed: Sequence[str]) -> str:
    return f"is not a known key{closest(key, allowed)}; allowed here: {', '.join(allowed)}"


def _explain(
    error: ErrorDetails, keys: Mapping[Path, Sequence[str]], above: Path
) -> Iterator[Mistake]:
    """Each mistake of an error: a validator may have raised several as one."""
    path, known = _places(error["loc"], above, keys)
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "problem":
            yield _placed(path, context)
        case "problems":
            yield from (_placed(path, each) for each in context["problems"])
        case _:
            yield Mistake(*_in_words(error, path, known, keys))


def _placed(path: Path, context: Mapping[str, Any]) -> Mistake:
    return Mistake(path + tuple(context["at"]), str(context["text"]))


def _in_words(
    error: ErrorDetails, path: Path, known: Path, keys: Mapping[Path, Sequence[str]]
) -> tuple[Path, str]:
    """The key and the rest of the sentence, of an error that pydantic knows."""
    context: dict[str, Any] = error.get("ctx", {})
    value = error["input"]
    match error["type"]:
        case "extra_forbidden" if path[-1] in keys.get(known[:-1], ()):
            return path, f"is a key that {_form(error)} does not have"
        case "extra_forbidden":
            return path, _unknown(path[-1], keys.get(known[:-1], ()))
        case "missing":
            return path, "is missing"
        case "union_tag_not_found":
            return (*path, "class"), f"is missing; it is {_listed(keys[(*known, 'class')])}"
        case "union_tag_invalid":
            path, value = (*path, "class"), value["class"]
            allowed = keys[(*known, "class")]
            meant = closest(value, allowed) if isinstance(value, str) else ""
            return path, f"must be {_listed(allowed)}, not {shown(value)}{meant}"
    meant = _meant(value, context) if error["type"] == "literal_error" else ""
    wanted = _wanted(error, context, keys.get(known, ()))
    return path, f"must be {wanted}, not {shown(value)}{meant}"


def _form(error: ErrorDetails) -> str:
    """The form of the table that the file asked for: its software, or its workload."""
    forms = [each for each in error["loc"] if isinstance(each, str) and each.startswith(FORM)]
    return forms[-1].removeprefix(FORM) if forms else "this table"


def _places(
    loc: Sequence[str | int], above: Path, known_tables: Collection[Path]
) -> tuple[Path, Path]:
    """The path for people, `disturb[2].take`, and the keys', `disturb.memory.take`.

    In an array of tables the place counts from 1; the table's class, if it has one, comes after it.
    Which of a table's forms was meant (its workload's, its software's) is of no interest.
    """
    path, known = list(above), list(above)
    for before, part in zip((None, *loc), loc, strict=False):
        if isinstance(part, int):
            path[-1] += f"[{part + 1}]"
            continue
        if part.startswith(FORM):
            continue
        known.append(part)
        if not (isinstance(before, int) and tuple(known) in known_tables):
            path.append(part)
    return tuple(path), tuple(known)


def _listed(words: Sequence[str]) -> str:
    """`"a", "b" or "c"`."""
    *most, last = (f'"{word}"' for word in words)
    return f"{', '.join(most)} or {last}" if most else last


def _meant(value: object, context: Mapping[str, Any]) -> str:
    """The nearest of the words that are allowed."""
    words = str(context["expected"]).split("'")[1::2]
    return closest(value, words) if isinstance(value, str) else ""


def _wanted(error: ErrorDetails, context: Mapping[str, Any], keys: Sequence[str]) -> str:
    """What the value should have been."""
    match error["type"]:
        case "kind":
            wanted = str(context["words"])
        case "literal_error":
            wanted = str(context["expected"]).replace("'", '"')
        case "bool_type":
            wanted = "true or false"
        case "model_type" | "dict_type":
            wanted = f"a table (keys: {', '.join(keys)})"
        case "model_attributes_type":
            wanted = "a table with a class"
        case "list_type":
            wanted = f"an array of tables ([[{error['loc'][-1]}]])"
        case _:
            wanted = f"something else ({error['msg']})"
    return wanted
