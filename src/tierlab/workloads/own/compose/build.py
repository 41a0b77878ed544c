"""The command that builds a service's image, with all of its `build`.

Sources: Compose Specification, "Compose Build"; podman-build(1).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tierlab.workloads.own.compose.switches import switch

TABLES = {"args": "--build-arg", "labels": "--label", "extra_hosts": "--add-host"}
"""Keys whose values are pairs, and podman's option for each pair."""
TEXTS = {"target": "--target", "network": "--network", "shm_size": "--shm-size"}
SWITCHES = {"no_cache": ("--no-cache",), "pull": ("--pull",), "privileged": ("--cap-add=ALL",)}
READ = {
    *("context", "dockerfile", "dockerfile_inline", "additional_contexts", "ssh", "secrets"),
    *("platforms", "tags", "ulimits"),
}
IN_NO_IMAGE = {"cache_from", "cache_to", "isolation", "entitlements", "provenance", "sbom"}
"""Keys that leave the image as it is."""
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|git@|github\.com/")


def unknown_keys(build: Any) -> list[str]:
    """Return the keys of a `build` that compose does not know."""
    known = READ | IN_NO_IMAGE | set(TABLES) | set(TEXTS) | set(SWITCHES)
    keys = build if isinstance(build, dict) else ()
    return [str(each) for each in keys if each not in known and not str(each).startswith("x-")]


def build_command(
    said: Mapping[str, Any], tag: str, folder: Path, document: Mapping[str, Any], project: str
) -> str:
    """Return the command that builds the image of a service, in one line. `folder`: from which its
    paths begin; `project`: by which images are called that have no name.
    """
    build = said.get("build")
    table: Mapping[str, Any] = build if isinstance(build, dict) else {"context": build}
    context = located(str(table.get("context") or "."), folder)
    words = ["podman", "build", "-t", tag, *_named(table)]
    inline = table.get("dockerfile_inline")
    if inline is not None:
        words += ["-f", "-"]
    elif table.get("dockerfile"):
        file = str(table["dockerfile"])
        words += ["-f", file if _REMOTE.match(context) else str(Path(context) / file)]
    words += _pairs(table)
    words += _contexts(table.get("additional_contexts"), folder, document, project)
    words += _secrets(table.get("secrets"), folder, document)
    words += _ssh(table.get("ssh"), folder)
    words += _machine(table, said)
    command = shlex.join([*words, context])
    return command if inline is None else f"printf {_printed(str(inline))} | {command}"


def image_of(name: str, said: Mapping[str, Any], project: str) -> str:
    """Return the name of a service's image: its own, or that by which Tierlab has it built."""
    image = said.get("image")
    return image if isinstance(image, str) else f"localhost/{project}-{name}".lower()


def located(path: str, folder: Path) -> str:
    """Return a path that begins in a folder as an absolute one; an address as it is."""
    return path if _REMOTE.match(path) else str((folder / Path(path).expanduser()).resolve())


def _printed(text: str) -> str:
    """Return a text of several lines as one word for printf."""
    written = text.replace("\\", "\\\\").replace("%", "%%")
    return shlex.quote(written.replace("\n", "\\n").replace("\t", "\\t"))


def _each(value: Any, separator: str = "=") -> Iterator[tuple[str, str | None]]:
    """The pairs of a table, or of a list of `NAME=VALUE`."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield str(name), None if each is None else _text(each)
        return
    for each in value if isinstance(value, list) else [value] if value else ():
        name, equals, rest = _text(each).partition(separator)
        yield name, rest if equals else None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _named(table: Mapping[str, Any]) -> Iterator[str]:
    for each in table.get("tags") or ():
        yield from ("-t", str(each))
    for key, option in TEXTS.items():
        if table.get(key) is not None:
            yield from (option, str(table[key]))
    for key, words in SWITCHES.items():
        if switch(table.get(key)) is True:
            yield from words


def _pairs(table: Mapping[str, Any]) -> Iterator[str]:
    for key, option in TABLES.items():
        between = ":" if key == "extra_hosts" else "="
        for name, value in _each(table.get(key)):
            yield from (option, name if value is None else f"{name}{between}{value}")
    for name, value in (table.get("ulimits") or {}).items():
        both = value if isinstance(value, dict) else {"soft": value, "hard": value}
        yield from ("--ulimit", f"{name}={both.get('soft')}:{both.get('hard')}")


def _contexts(value: Any, folder: Path, document: Mapping[str, Any], project: str) -> Iterator[str]:
    services = document.get("services") or {}
    for name, each in _each(value):
        where = str(each)
        if where.startswith("service:"):
            other = where.removeprefix("service:")
            where = f"container-image://{image_of(other, services.get(other) or {}, project)}"
        yield from ("--build-context", f"{name}={located(where, folder)}")


def _secrets(value: Any, folder: Path, document: Mapping[str, Any]) -> Iterator[str]:
    for each in value or ():
        source = str(each.get("source") if isinstance(each, dict) else each)
        target = str(each.get("target") or source) if isinstance(each, dict) else source
        known = (document.get("secrets") or {}).get(source) or {}
        if known.get("file") is not None:
            yield from ("--secret", f"id={target},src={located(str(known['file']), folder)}")
        else:
            yield from ("--secret", f"id={target},env={known.get('environment') or source}")


def _ssh(value: Any, folder: Path) -> Iterator[str]:
    for name, each in _each(value):
        yield from ("--ssh", f"{name}={located(each, folder)}" if each else name)


def _machine(table: Mapping[str, Any], said: Mapping[str, Any]) -> Iterator[str]:
    platforms = table.get("platforms")
    platform = said.get("platform") or (platforms[0] if isinstance(platforms, list) else None)
    if platform and (not isinstance(platforms, list) or len(platforms) <= 1):
        yield from ("--platform", str(platform))
