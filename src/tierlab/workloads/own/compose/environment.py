"""The variables of a service, of its files and of its own table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.errors import UserError
from tierlab.workloads.own.compose.env_file import RAW, from_file
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.switches import switch


@dataclass(frozen=True)
class Variables:
    """What a service's variables may come from: files below a folder, and those that are known."""

    folder: Path
    known: Mapping[str, str]
    findings: Findings


def environment_of(key: str, said: Mapping[str, Any], variables: Variables) -> dict[str, str]:
    """Return a service's variables; what is wrong with them is among the findings."""
    found: dict[str, str] = {}
    files = said.get("env_file") or []
    for each in files if isinstance(files, list) else [files]:
        found |= _of_file(f"{key}.env_file", each, found, variables)
    stated = said.get("environment") or {}
    pairs = stated.items() if isinstance(stated, dict) else map(_pair, stated)
    for name, value in pairs:
        if value is not None:
            found[str(name)] = written(value)
        elif name in variables.known:
            found[str(name)] = variables.known[str(name)]
        else:
            found.pop(str(name), None)
            variables.findings.note(f"{key}.environment: {name} is not set, and left out")
    return found


def _of_file(
    key: str, entry: Any, before: Mapping[str, str], variables: Variables
) -> dict[str, str]:
    table = entry if isinstance(entry, dict) else {"path": entry}
    path = variables.folder / Path(str(table.get("path"))).expanduser()
    form = table.get("format")
    if form not in (None, RAW):
        variables.findings.wrong(key, f'has the format "{form}"; there is {RAW}, or none')
    if not path.is_file():
        if switch(table.get("required")) is not False:
            variables.findings.wrong(key, f"names {path}, and there is no such file")
        return {}
    try:
        known = {**before, **variables.known}
        return from_file(path, known, variables.findings, key, form)
    except UserError as error:
        variables.findings.wrong(key, f"names {str(error).rstrip('.')}")
        return {}


def _pair(text: Any) -> tuple[str, str | None]:
    name, equals, value = str(text).partition("=")
    return name, value if equals else None


def written(value: Any) -> str:
    """Return a value as Docker writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
