"""The numbers that stand beside the rules which use them: lengths of time, shares, counts.

Levels of evidence are in :mod:`tierlab.diagnosis.thresholds`. These are read from the source, each
with the words below it, so that none is left out of the table that says how much each matters.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import walk_packages
from unittest.mock import patch

import tierlab.diagnosis

GIVEN = {"SECOND_NS", "MINUTE_NS", "QUARTILE", "PERIOD_NS", "USUAL_WEIGHT", "LONG_MS"}
"""Units, and what mathematics, kernels and the eye say: nothing was chosen."""


Value = float | tuple[float, ...]


@dataclass(frozen=True)
class Constant:
    """A number, or several, by its module and name; ``users`` are the modules that know it by that
    name.
    """

    module: str
    name: str
    value: Value
    why: str
    users: tuple[str, ...]

    @property
    def place(self) -> str:
        """Its name within the diagnosis."""
        return f"{self.module.removeprefix('tierlab.diagnosis.')}.{self.name}"

    @property
    def words(self) -> str:
        """Its value, lengths of time in milliseconds."""
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        if self.name.endswith("_NS"):
            return f"{', '.join(f'{each / 1e6:g}' for each in values)} ms"
        return ", ".join(f"{each:.3g}" for each in values)

    def times(self, factor: float) -> Callable[[], AbstractContextManager[object]]:
        """Return what gives the context within which it is so many times as large."""
        value = _times(self.value, factor)

        def moved() -> AbstractContextManager[object]:
            with ExitStack() as stack:
                for user in self.users:
                    stack.enter_context(patch.object(sys.modules[user], self.name, value))
                return stack.pop_all()

        return moved


def _times(value: Value, factor: float) -> Value:
    """A whole number stays one, and counts something."""
    if isinstance(value, tuple):
        return tuple(_scaled(each, factor) for each in value)
    return _scaled(value, factor)


def _scaled(value: float, factor: float) -> float:
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def constants() -> list[Constant]:
    """Return all that were chosen, in the order of their modules."""
    trees = _trees()
    return [
        Constant(module, name, value, why, _users(trees, module, name))
        for module, tree in trees.items()
        for name, why in _assigned(tree)
        if _is_number(value := vars(sys.modules[module])[name]) and name not in GIVEN
    ]


def used_on_import() -> list[str]:
    """Return the constants that are used while their module or another is imported, where moving
    them would change nothing.
    """
    names = {each.name for each in constants()}
    return [
        f"{module}.{node.id}"
        for module, tree in _trees().items()
        for node in _outside_of_functions(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names
    ]


def _trees() -> dict[str, ast.Module]:
    found = {}
    for each in walk_packages(tierlab.diagnosis.__path__, "tierlab.diagnosis."):
        source = Path(str(import_module(each.name).__file__))
        found[each.name] = ast.parse(source.read_text())
    return found


def _assigned(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each name in capitals that a module gives a value, with the words that follow it."""
    for statement, following in pairwise([*tree.body, ast.Pass()]):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
                yield name, _words(following)


def _words(statement: ast.stmt) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(words))):
            return " ".join(words.split())
    return ""


def _is_number(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_number, value))
    return type(value) in {int, float}


def _users(trees: dict[str, ast.Module], module: str, name: str) -> tuple[str, ...]:
    importing = [
        user
        for user, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module == module
        and any(each.name == name for each in node.names)
    ]
    return (module, *importing)


def _outside_of_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            for default in [*child.args.defaults, *child.args.kw_defaults, *child.decorator_list]:
                if default is not None:
                    yield from (default, *ast.walk(default))
        elif not isinstance(child, ast.Lambda):
            yield child
            yield from _outside_of_functions(child)
