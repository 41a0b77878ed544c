"""Reading and writing experiment files."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from tierlab.errors import UserError
from tierlab.experiment.assign import assigned, assignment
from tierlab.experiment.experiment import Experiment
from tierlab.experiment.several import are_several, with_environment
from tierlab.values.decode import NotTextError, decoded
from tierlab.workloads.own.compose.expand import Expanded, expanded
from tierlab.workloads.own.paths import anchored
from tierlab.workloads.own.workload import Own

MOST_BYTES = 1 << 20
LOOKALIKES = {
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", 'a plain quote (")'),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "a plain quote (')"),
    **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", "a plain blank"),
    **dict.fromkeys("\ufeff\u200b\u2060", "nothing, for it is not visible"),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "a plain hyphen (-)"),
}
"""Characters that look like those of TOML, and what is meant."""


def load(
    path: Path | str,
    *,
    environment: str | None = None,
    assignments: Sequence[str] = (),
    repeat: int | None = None,
) -> Experiment:
    """The experiment in a TOML file; UserError that names all that is wrong in it.

    `environment`: what `system.environment` is instead of what the file says; `repeat` the same of
    `factors.repeat`, and `assignments` (`system.app.soft.threads=50`) of any key.
    """
    tables = load_tables(Path(path))
    if environment is not None:
        tables = _in_environment(tables, environment, str(path))
    for text in assignments:
        tables = assigned(tables, *assignment(text), f"{path}: --set {text}")
    if repeat is not None:
        tables = assigned(tables, ("factors", "repeat"), repeat, f"{path}: --repeat {repeat}")
    return Experiment.from_tables(tables, str(path))


def load_tables(path: Path) -> dict[str, Any]:
    """The file's tables, unchecked, in which a user's own paths begin where the file is, and the
    servers of a compose file stand as if they were described there.
    """
    tables = _anchored(read_tables(path), path.parent)
    system = tables.get("system")
    if isinstance(system, list):
        return {**tables, "system": [_described(each).system for each in system]}
    return {**tables, "system": _described(system).system} if _is_own(system) else tables


def assumptions(path: Path) -> tuple[str, ...]:
    """What is taken for granted of a compose file's services, where the experiment names one."""
    system = _anchored(read_tables(path), path.parent).get("system")
    systems = system if isinstance(system, list) else [system]
    return tuple(note for each in systems for note in _described(each).notes)


def _described(system: Any) -> Expanded:
    return expanded(system) if _is_own(system) else Expanded(system)


def read_tables(path: Path) -> dict[str, Any]:
    """The file's tables, unchecked."""
    text = _text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(
            f"{path}: not valid TOML: {_lower(str(error))}{_why(str(error), text)}."
        ) from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: not valid TOML: a number too long or nested too deep.") from None


def _in_environment(tables: dict[str, Any], environment: str, path: str) -> dict[str, Any]:
    if are_several(tables):
        return with_environment(tables, environment)
    source = f"{path}: --environment {environment}"
    return assigned(tables, ("system", "environment"), environment, source)


def _anchored(tables: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A user's own paths begin where the file is, wherever Tierlab is called."""
    system = tables.get("system")
    if isinstance(system, list):
        named = [anchored(each, folder) if _is_own(each) else each for each in system]
        return {**tables, "system": named}
    return {**tables, "system": anchored(system, folder)} if _is_own(system) else tables


def _is_own(system: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(system, dict) and system.get("workload") == Own.name


def _text(path: Path) -> str:
    if path.is_dir():
        raise UserError(f"{path}: is a folder; name the experiment file in it.")
    if not path.exists():
        raise UserError(f"{path}: no such file; `tierlab init {path}` writes one.")
    if not path.is_file():
        raise UserError(f"{path}: is not a regular file.")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from None
    if len(content) > MOST_BYTES:
        raise UserError(f"{path}: is over 1 MiB; that is no experiment file.")
    try:
        text = decoded(content)
    except NotTextError as error:
        raise UserError(f"{path}: {error}.") from None
    if not text.strip():
        raise UserError(f"{path}: is empty; `tierlab init` writes a file to start from.")
    # The line ends of old Macs, which TOML does not know.
    return text if "\n" in text else text.replace("\r", "\n")


def _why(problem: str, text: str) -> str:
    """Return how the sentence goes on if a character that looks like another stands at the place of
    a problem: a quote, as word processors write it, or a blank that is none.
    """
    place = re.search(r"at line (\d+), column (\d+)", problem)
    lines = text.replace("\r\n", "\n").split("\n")
    if place is None or int(place[1]) > len(lines):
        return ""
    found = lines[int(place[1]) - 1][int(place[2]) - 1 :][:1]
    meant = LOOKALIKES.get(found)
    return "" if meant is None else f"; there is U+{ord(found):04X}, write {meant}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
