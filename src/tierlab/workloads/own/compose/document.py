"""One compose file as tables, and what of files before it its tags drop.

Sources: YAML 1.2; Compose Specification, "Merge and override", of `!reset` and `!override`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tierlab.errors import UserError
from tierlab.values.decode import NotTextError, decoded
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.scalars import TAG, Loader

MOST_BYTES = 1 << 20
MOST_NODES = 100_000
KNOWN_TAGS = {f"{TAG}{name}" for name in ("str", "int", "float", "bool", "null", "map", "seq")}
RESET, OVERRIDE = "!reset", "!override"
MERGE = f"{TAG}merge"

Place = tuple[str, ...]
"""The keys that lead to a value."""


@dataclass(frozen=True)
class Document:
    """A file's tables, and the places at which they replace what files before it say."""

    tables: dict[str, Any]
    replaced: frozenset[Place] = frozenset()


def read_document(file: Path) -> Document:
    """Read a compose file; `UserError` for one that is none, with the lines of what is wrong."""
    text = _text(file)
    findings = Findings(file)
    replaced: frozenset[Place] = frozenset()
    tables = None
    try:
        loader: Any = Loader(text)
        node = loader.get_single_node()
        if node is not None:
            tags = _Tags(loader, findings)
            tags.heed(node, (), frozenset())
            findings.settle()
            replaced = frozenset(tags.replaced)
            tables = loader.construct_document(node)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise UserError(f"{file}: {_broken(error)}.") from None
    if tables is not None and not isinstance(tables, dict):
        raise UserError(f"{file}: has no services; name a compose file.")
    return Document({str(key): value for key, value in (tables or {}).items()}, replaced)


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"system.compose: {file} cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{file}: is over 1 MiB; that is no compose file.")
    try:
        return decoded(content)
    except NotTextError as error:
        raise UserError(f"{file}: {error}.") from None


def _broken(error: Exception) -> str:
    """Return how the sentence goes on about text that is no YAML, or more than one document."""
    mark = getattr(error, "problem_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "")
    if mark is None:
        return f"is not valid YAML{f': {problem}' if problem else ''}"
    if problem == "but found another document":
        return (
            f"has a second YAML document, which begins at line {mark.line + 1} (---); Tierlab reads"
            " one: join them, or keep one in the file"
        )
    if "\\t" in problem:
        problem = "a tab, where YAML takes only blanks"
    return f"is not valid YAML (line {mark.line + 1}): {problem or 'it cannot be parsed'}"


class _Tags:
    """Compose's tags, and keys that are given twice, in the nodes of one file."""

    def __init__(self, loader: Any, findings: Findings) -> None:
        self._loader = loader
        self._findings = findings
        self._overriding: set[int] = set()
        self._dropped: dict[int, list[str]] = {}
        self._checked: set[int] = set()
        self._left = MOST_NODES
        self.replaced: set[Place] = set()

    def heed(self, node: yaml.Node, place: Place, above: frozenset[int]) -> None:
        """Heed the tags of what stands at a place, and note what is wrong there."""
        self._left -= 1
        if self._left < 0 or id(node) in above:
            line = node.start_mark.line + 1
            raise yaml.constructor.ConstructorError(
                None, None, f"an anchor that is referred to too often, or by itself, at {line}",
                node.start_mark,
            )  # fmt: skip
        self._untag(node, place)
        above |= {id(node)}
        if isinstance(node, yaml.MappingNode):
            self._table(node, place, above)
        elif isinstance(node, yaml.SequenceNode):
            node.value = [each for each in node.value if each.tag != RESET]
            for each in node.value:
                self.heed(each, place, above)

    def _untag(self, node: yaml.Node, place: Place) -> None:
        if node.tag == OVERRIDE:
            self._overriding.add(id(node))
            node.tag = self._loader.resolve(type(node), node.value, (True, False))
        elif node.tag not in KNOWN_TAGS:
            self._findings.wrong(
                f"line {node.start_mark.line + 1}",
                f"has the tag {node.tag.replace(TAG, '!!')}, which compose does not know (it knows"
                f" {RESET} and {OVERRIDE}); remove it",
            )
            node.tag = f"{TAG}str"
        if id(node) in self._overriding:
            self.replaced.add(place)

    def _table(self, node: yaml.MappingNode, place: Place, above: frozenset[int]) -> None:
        if id(node) not in self._checked:
            self._checked.add(id(node))
            self._check_keys(node, place)
            self._drop(node)
        self.replaced.update((*place, name) for name in self._dropped.get(id(node), ()))
        for key, value in node.value:
            if key.tag == MERGE:
                for each in value.value if isinstance(value, yaml.SequenceNode) else (value,):
                    self.heed(each, place, above)
            else:
                self.heed(value, (*place, str(key.value)), above)

    def _check_keys(self, node: yaml.MappingNode, place: Place) -> None:
        lines: dict[str, int] = {}
        for key in _keys(node):
            line = key.start_mark.line + 1
            if key.value in lines:
                self._findings.wrong(
                    ".".join((*place, str(key.value))),
                    f"is given twice, at lines {lines[key.value]} and {line}; keep one",
                )
            lines[key.value] = line
            if key.tag != MERGE:
                key.tag = f"{TAG}str"

    def _drop(self, node: yaml.MappingNode) -> None:
        """Take away the keys whose values are reset; those that are merged in give way, too."""
        dropped = [str(key.value) for key, value in node.value if value.tag == RESET]
        if dropped:
            self._dropped[id(node)] = dropped
            self._loader.flatten_mapping(node)
            node.value = [
                (key, value)
                for key, value in node.value
                if value.tag != RESET and str(key.value) not in dropped
            ]


def _keys(node: yaml.MappingNode) -> Iterator[yaml.ScalarNode]:
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(
                None, None, "a key that is no text", key.start_mark
            )
        yield key
