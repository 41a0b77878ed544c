"""The tables of compose files as one application: merged, and with the files that they include.

Source: Compose Specification, "Merge and override" and "include". What an included file has is
copied and not merged: paths begin in its folder, and its variables are those of its own `.env`
under those of the file that includes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.workloads.own.compose.document import Document, read_document
from tierlab.workloads.own.compose.env_file import from_file
from tierlab.workloads.own.compose.extends import Extending
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.keys import look_at_top
from tierlab.workloads.own.compose.merge import merged
from tierlab.workloads.own.compose.relative_paths import with_absolute_paths
from tierlab.workloads.own.compose.variables import Interpolation

KINDS = ("services", "volumes", "networks", "secrets", "configs")
"""The tables of a file that an include copies."""
KEYS = ("path", "project_directory", "env_file")
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*:|git@")


@dataclass(frozen=True)
class Project:
    """Where paths begin, and the variables that are set there."""

    folder: Path
    variables: Mapping[str, str]
    findings: Findings


def model(files: Sequence[Path], project: Project, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return the tables of files, each merged over those before it. What is wrong with them is
    among the findings; `UserError` for a file that is no compose file. `above`: the files that
    include these.
    """
    findings = project.findings
    made = Document({})
    for file in files:
        read = read_document(file)
        tables = Interpolation(project.variables, findings).all(read.tables)
        extending = Extending(project.folder, project.variables, findings)
        tables = extending.all(file, Document(tables, read.replaced))
        around = (*above, *(each.resolve() for each in files))
        tables = _with_included(tables, file, project, around)
        made = merged(made, Document(tables, read.replaced), findings)
    return made.tables


def _with_included(
    tables: dict[str, Any], file: Path, project: Project, above: tuple[Path, ...]
) -> dict[str, Any]:
    listed = tables.get("include")
    made = {key: value for key, value in tables.items() if key != "include"}
    key = "include" if file == project.findings.file else f"include of {file}"
    if listed is not None and not isinstance(listed, list):
        project.findings.wrong(key, f"must be a list of files, not {listed!r}")
        return made
    for each in listed or ():
        table = {"path": each} if isinstance(each, str) else each
        files = _files(key, table, project, above)
        if files:
            included = _included(key, table, files, project, above)
            _copy(included, files[0], made, project.findings)
    return made


def _files(key: str, table: Any, project: Project, above: tuple[Path, ...]) -> list[Path]:
    """Return the files of an entry; none if any of them cannot be included."""
    findings = project.findings
    path = table.get("path") if isinstance(table, dict) else None
    paths = [path] if isinstance(path, str) else path
    if not isinstance(paths, list) or not all(isinstance(each, str) for each in paths):
        findings.wrong(key, f"has {table!r}, which names no file; write its path")
        return []
    unknown = [str(each) for each in table if each not in KEYS]
    if unknown:
        findings.wrong(key, f"has {', '.join(unknown)}; there are {', '.join(KEYS)}")
    found = []
    for each in paths:
        path = project.folder / Path(each).expanduser()
        if _REMOTE.match(each):
            findings.wrong(key, f"names {each}, which is no file of this host; download it")
        elif not path.is_file():
            findings.wrong(key, f"names {path}, and there is no such file")
        elif path.resolve() in above:
            way = " -> ".join(str(each) for each in (*above, path.resolve()))
            findings.wrong(key, f"leads back to where it began ({way}); remove one of them")
        else:
            found.append(path)
    return found if len(found) == len(paths) else []


def _included(
    key: str,
    table: Mapping[str, Any],
    files: Sequence[Path],
    project: Project,
    above: tuple[Path, ...],
) -> dict[str, Any]:
    """Return the tables of included files, with absolute paths."""
    folder = files[0].parent
    if table.get("project_directory") is not None:
        folder = project.folder / Path(str(table["project_directory"])).expanduser()
    variables = _variables(key, table.get("env_file"), folder, project)
    tables = model(files, Project(folder, variables, project.findings), above)
    tables = with_absolute_paths(tables, folder)
    services = tables.get("services")
    for each in services.values() if isinstance(services, dict) else ():
        if isinstance(each, dict) and each.get("environment"):
            each["environment"] = _with_values(each["environment"], variables)
    return tables


def _variables(key: str, env_file: Any, folder: Path, project: Project) -> dict[str, str]:
    """Return the variables of included files: those of the project, and of their own file."""
    own = folder / ".env"
    files = [own] if own.is_file() else []
    if env_file is not None:
        named = env_file if isinstance(env_file, list) else [env_file]
        files = [project.folder / Path(str(each)).expanduser() for each in named]
    found: dict[str, str] = {}
    for each in files:
        if not each.exists() or each.is_dir():
            project.findings.wrong(key, f"names the env_file {each}, and there is no such file")
            continue
        found |= from_file(each, {**found, **project.variables}, project.findings, key)
    return {**found, **project.variables}


def _with_values(environment: Any, variables: Mapping[str, str]) -> Any:
    """Return a service's variables; those without a value take the one where they are included."""
    if isinstance(environment, dict):
        return {
            name: variables.get(str(name)) if value is None else value
            for name, value in environment.items()
        }
    if not isinstance(environment, list):
        return environment
    names = (str(each) for each in environment)
    return [f"{each}={variables[each]}" if each in variables else each for each in names]


def _copy(tables: Mapping[str, Any], file: Path, into: dict[str, Any], findings: Findings) -> None:
    """Copy what included files have into the tables of the file that includes them."""
    look_at_top({key: each for key, each in tables.items() if key != "networks"}, findings, file)
    for kind in KINDS:
        theirs, own = tables.get(kind) or {}, into.get(kind) or {}
        if not isinstance(theirs, dict):
            findings.wrong(f"{kind} of {file}", f"must be a table, not {theirs!r}")
            continue
        if not theirs or not isinstance(own, dict):
            continue
        for name in theirs.keys() & own.keys():
            if (theirs[name] or {}) != (own[name] or {}):
                findings.wrong(
                    f"{kind}.{name}",
                    f"is in {file} too, which is included, and Docker merges no such two: rename"
                    " one, or change it in an override file",
                )
        into[kind] = {**theirs, **own}
