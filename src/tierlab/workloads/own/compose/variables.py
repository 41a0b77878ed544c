"""Variables in the values of a compose file: `${NAME:-default}`.

Source: Compose Specification, "Interpolation". What is not set is empty, as compose has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tierlab.workloads.own.compose.findings import Findings

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OPERATOR = re.compile(r":?[-?+]")


class Interpolation:
    """Values put in for variables, all through a file."""

    def __init__(self, variables: Mapping[str, str], findings: Findings) -> None:
        self._variables = variables
        self._findings = findings

    def all(self, value: Any, key: str = "") -> Any:
        """The same with variables' values for them; `key` is where it stands in the file."""
        if isinstance(value, dict):
            return {
                name: self.all(each, f"{key}.{name}" if key else str(name))
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self.all(each, key) for each in value]
        return self.text(value, key) if isinstance(value, str) else value

    def text(self, text: str, key: str) -> str:
        """One text."""
        made, at = "", 0
        while (dollar := text.find("$", at)) >= 0:
            made += text[at:dollar]
            if text.startswith("$$", dollar):
                made, at = f"{made}$", dollar + 2
            elif text.startswith("${", dollar):
                end = _closing(text, dollar + 2)
                if end < 0:
                    self._findings.wrong(key, f'has "{text[dollar:]}", whose brace is not closed')
                    return made
                made += self._braced(text[dollar + 2 : end], key)
                at = end + 1
            elif (name := NAME.match(text, dollar + 1)) is not None:
                made += self._value(name[0], key)
                at = name.end()
            else:
                made, at = f"{made}$", dollar + 1
        return made + text[at:]

    def _braced(self, inside: str, key: str) -> str:
        name = NAME.match(inside)
        if name is None:
            self._findings.wrong(key, f'has "${{{inside}}}", which names no variable')
            return ""
        operator = OPERATOR.match(inside, name.end())
        if operator is None:
            if name.end() != len(inside):
                self._findings.wrong(key, f'has "${{{inside}}}", which compose does not know')
            return self._value(name[0], key)
        value = self._variables.get(name[0])
        is_set = value is not None and not (operator[0].startswith(":") and value == "")
        rest = inside[operator.end() :]
        match operator[0][-1]:
            case "-":
                return str(value) if is_set else self.text(rest, key)
            case "+":
                return self.text(rest, key) if is_set else ""
        if not is_set:
            said = f" ({self.text(rest, key)})" if rest else ""
            self._findings.wrong(key, f"needs the variable {name[0]}{said}; export it first")
        return value or ""

    def _value(self, name: str, key: str) -> str:
        if name not in self._variables:
            self._findings.note(f"{key}: {name} is not set, and empty")
        return self._variables.get(name, "")


def _closing(text: str, at: int) -> int:
    """Where the brace that is open before `at` closes; -1 where it does not."""
    depth = 1
    while at < len(text):
        if text.startswith("${", at):
            depth += 1
            at += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1
