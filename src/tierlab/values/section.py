"""What every table of an experiment file has in common."""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of the file: frozen, strict in its types, and closed to keys it does not know.

    Attributes named `*_ns` are written without the suffix and as text in the file (`think = "7s"`).
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )


def meanings(model: type[Section]) -> dict[str, str]:
    """What a table's keys mean, by attribute: the text below each in the source.

    Pydantic would read all tables' source whenever they are imported.
    """
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Section):
            found |= _texts(each)
    return found


@cache
def _texts(model: type[Section]) -> dict[str, str]:
    """Those of the class itself; a model that is made by a program has none."""
    found = {}
    for pair in pairwise(_classes(model.__module__).get(model.__name__, [])):
        match pair:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found


@cache
def _classes(module: str) -> dict[str, list[ast.stmt]]:
    """What a module's classes consist of, by name."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: each.body for each in tree.body if isinstance(each, ast.ClassDef)}
