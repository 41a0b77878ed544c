"""The files beside a compose file that `docker compose` merges over it.

Source: Compose Specification, "Compose file"; `docker compose`, of COMPOSE_FILE.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tierlab.workloads.own.compose.findings import Findings

NAMES = ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml")
"""Files that `docker compose` takes without being told, the first that there is."""
OVERRIDES = (
    *("compose.override.yml", "compose.override.yaml"),
    *("docker-compose.override.yml", "docker-compose.override.yaml"),
)
"""Files that it merges over that one, of these too the first that there is."""


def files_over(file: Path, variables: Mapping[str, str], findings: Findings) -> list[Path]:
    """Return the files that `docker compose up` in the file's folder merges over it, in order.

    The findings say which are merged, and which that are there are not.
    """
    folder = file.parent
    if variables.get("COMPOSE_FILE"):
        return _listed(file, variables, findings)
    there = [folder / name for name in OVERRIDES if (folder / name).is_file()]
    if not there:
        return []
    first = next((name for name in NAMES if (folder / name).is_file()), None)
    if file.name != first:
        findings.note(
            f"{there[0].name} is not merged over {file.name}, as `docker compose -f {file.name}`"
            " does not either"
        )
        return []
    findings.note(
        f"{there[0].name} is merged over {file.name}, as `docker compose` does (a copy of"
        f" {file.name} by another name is read alone)"
    )
    for each in there[1:]:
        findings.note(f"{each.name} is not read, as {there[0].name} comes first")
    return there[:1]


def _listed(file: Path, variables: Mapping[str, str], findings: Findings) -> list[Path]:
    """Return the other files that the variable COMPOSE_FILE lists, if it begins with this one."""
    listed = variables["COMPOSE_FILE"]
    separator = variables.get("COMPOSE_PATH_SEPARATOR") or ":"
    paths = [file.parent / each for each in listed.split(separator) if each]
    if not paths or paths[0].resolve() != file.resolve():
        findings.note(
            f"COMPOSE_FILE ({listed}) is not heeded, as it does not begin with {file.name}"
        )
        return []
    for each in paths[1:]:
        if not each.is_file():
            findings.wrong("COMPOSE_FILE", f"names {each}, and there is no such file")
    found = [each for each in paths[1:] if each.is_file()]
    if found:
        names = ", ".join(each.name for each in found)
        are = "is" if len(found) == 1 else "are"
        findings.note(f"{names} {are} merged over {file.name}, as COMPOSE_FILE has it")
    return found
