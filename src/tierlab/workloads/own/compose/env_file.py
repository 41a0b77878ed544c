"""Files of variables, as `.env` and `env_file` name them.

Source: Compose Specification, "env_file"; compose-go's `dotenv`, and its format `raw`: each line as
it stands.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from tierlab.errors import UserError
from tierlab.values.decode import NotTextError, decoded
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.variables import Interpolation

RAW = "raw"
MOST_UNREAD = 0.5
"""Share of a file's variables; a file of which more are not understood is refused."""
_SHOWN = 3
_AS_YAML = re.compile(r"(\s*(?:export\s+)?[A-Za-z_][\w.-]*)[ \t]*:[ \t]*")
"""The beginning of a line that says `NAME: value`."""


def of_the_project(folder: Path, findings: Findings) -> dict[str, str]:
    """Return the variables of the file `.env` beside a compose file, under those that are set where
    Tierlab runs.
    """
    file = folder / ".env"
    known = dict(os.environ)
    if known.get("COMPOSE_ENV_FILES"):
        findings.note(f"COMPOSE_ENV_FILES is not heeded: variables are those of {file.name}")
    return {**(from_file(file, known, findings, file.name) if file.is_file() else {}), **known}


def from_file(
    file: Path, known: Mapping[str, str], findings: Findings, key: str, form: str | None = None
) -> dict[str, str]:
    """Return the variables of a file, which may speak of those that are `known` and those before
    them there; `UserError` if it cannot be read. `key` is where findings are told to be.

    A name that stands alone takes the known value, and is left out if there is none.
    """
    text = _text(file)
    if form == RAW:
        return _raw(text, file, known, findings, key)
    found: dict[str, str] = {}
    bindings = [each for each in _bindings(text) if each.error or each.key is not None]
    unread = [each.original.line for each in bindings if each.error]
    _note_unread(unread, len(bindings), file, findings, key)
    for each in bindings:
        if each.error or each.key is None:
            continue
        if each.value is None:
            _inherited(each.key, known, found, findings, f"{key}: {file.name}")
        else:
            found[each.key] = _value(each, Interpolation({**found, **known}, findings), key)
    return found


def _text(file: Path) -> str:
    try:
        return decoded(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: cannot be read: {error.strerror}.") from None
    except NotTextError:
        raise UserError(f"{file}: is not a file of variables in UTF-8; write it as one.") from None


def _bindings(text: str) -> Iterator[Binding]:
    """The statements of a file, with their lines."""
    for each in parse_stream(io.StringIO(text)):
        as_yaml = _AS_YAML.match(each.original.string)
        if as_yaml is None:
            yield each
            continue
        rest = each.original.string[as_yaml.end() :]
        again = list(parse_stream(io.StringIO(f"{as_yaml[1]}={rest}")))
        is_read = len(again) == 1 and not again[0].error
        yield again[0] if is_read else each._replace(key=None, error=True)


def _raw(
    text: str, file: Path, known: Mapping[str, str], findings: Findings, key: str
) -> dict[str, str]:
    found: dict[str, str] = {}
    unread: list[int] = []
    lines = 0
    for number, line in enumerate(text.split("\n"), 1):
        written = line.removesuffix("\r").lstrip()
        if not written or written.startswith("#"):
            continue
        lines += 1
        name, equals, value = written.partition("=")
        if not name or re.search(r"\s", name):
            unread.append(number)
        elif equals:
            found[name] = value
        else:
            _inherited(name, known, found, findings, f"{key}: {file.name}")
    _note_unread(unread, lines, file, findings, key)
    return found


def _note_unread(
    unread: Sequence[int], variables: int, file: Path, findings: Findings, key: str
) -> None:
    """Note the lines that were not understood; `UserError` if they are more than half."""
    if len(unread) > MOST_UNREAD * variables:
        raise UserError(
            f"{file}: {len(unread)} of its {variables} variables are not understood, the first at"
            f" line {unread[0]}; write each as NAME=value."
        )
    shown = ", ".join(map(str, unread[:_SHOWN]))
    more = f" and {len(unread) - _SHOWN} more" if len(unread) > _SHOWN else ""
    if unread:
        lines = "line" if len(unread) == 1 else "lines"
        findings.note(
            f"{key}: {len(unread)} of {variables} variables of {file.name} are not understood and"
            f" left out, at {lines} {shown}{more}"
        )


def _inherited(
    name: str, known: Mapping[str, str], found: dict[str, str], findings: Findings, where: str
) -> None:
    """Give a name that stands alone the value that it has where Tierlab runs."""
    if name in known:
        found[name] = known[name]
    else:
        findings.note(f"{where} names {name} without a value, and it is not set: it is left out")


def _value(binding: Binding, interpolation: Interpolation, key: str) -> str:
    """Return a value: in single quotes a dollar is one; in double quotes it may have a backslash
    before it.
    """
    value = binding.value or ""
    quote = binding.original.string.partition("=")[2].lstrip()[:1]
    if quote == "'":
        return value
    return interpolation.text(value.replace("\\$", "$$") if quote == '"' else value, key)
