"""Compose files one over the other.

Source: Compose Specification, "Merge and override": tables are joined, lists go on, and a later
file's commands replace an earlier one's; of what has a key of its own (a volume by its place), the
later one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tierlab.workloads.own.compose.document import Document, Place
from tierlab.workloads.own.compose.findings import Findings

ANY = "*"
_SERVICE: Place = ("services", ANY)
REPLACED: frozenset[Place] = frozenset(
    {
        *((*_SERVICE, key) for key in ("command", "entrypoint", "logging")),
        (*_SERVICE, "healthcheck", "test"),
        (*_SERVICE, "ulimits", ANY),
    }
)
"""Values that a later file has instead of an earlier one."""
PAIRS: frozenset[Place] = frozenset(
    {
        *((*_SERVICE, key) for key in ("environment", "labels", "annotations", "sysctls")),
        *((*_SERVICE, key) for key in ("networks", "depends_on")),
        *((*_SERVICE, "build", key) for key in ("args", "labels", "additional_contexts")),
    }
)
"""Tables that may be lists of `NAME=VALUE` or of names."""
LISTS: frozenset[Place] = frozenset(
    (*_SERVICE, key) for key in ("env_file", "dns", "dns_search", "tmpfs", "label_file")
)
"""Lists that may be one text."""
BY_PLACE = {"volumes": "", "secrets": "/run/secrets/", "configs": "/"}
"""Lists of a service whose entries are known by their place in the container."""


def merged(earlier: Document, later: Document, findings: Findings) -> Document:
    """Return the tables of both, the later one's over the earlier's. What cannot be merged is
    among the findings.
    """
    base: Any = earlier.tables
    for place in later.replaced:
        base = _without(base, place, ())
    return Document(_tables(base, later.tables, (), findings), earlier.replaced)


def _without(value: Any, place: Place, above: Place) -> Any:
    """Return a copy without what stands at a place, which is below `above`."""
    value = _formed(value, above)
    if not isinstance(value, dict) or place[0] not in value:
        return value
    rest = {key: each for key, each in value.items() if key != place[0]}
    if len(place) == 1:
        return rest
    below = _without(value[place[0]], place[1:], (*above, place[0]))
    return {**value, place[0]: below}


def _tables(
    base: Mapping[str, Any], over: Mapping[str, Any], place: Place, findings: Findings
) -> dict[str, Any]:
    made = dict(base)
    for key, value in over.items():
        name = str(key)
        made[name] = _value(made[name], value, (*place, name), findings) if name in made else value
    return made


def _value(base: Any, over: Any, place: Place, findings: Findings) -> Any:
    if _among(place, REPLACED) or base is None:
        return over
    if over is None and isinstance(base, dict | list):
        findings.note(
            f"{'.'.join(place)}: is empty in the later file, which takes nothing away; !reset does"
        )
        return base
    base, over = _formed(base, place), _formed(over, place)
    if isinstance(base, dict) and isinstance(over, dict):
        return _tables(base, over, place, findings)
    if isinstance(base, list) and isinstance(over, list):
        return _joined([*base, *over], place[-1])
    if isinstance(base, dict | list) or isinstance(over, dict | list):
        findings.wrong(
            ".".join(place), "has one form in one of the files and another in the other; say it"
            " alike in both"
        )  # fmt: skip
    return over


def _among(place: Place, patterns: Iterable[Place]) -> bool:
    return any(
        len(each) == len(place)
        and all(key in (ANY, name) for key, name in zip(each, place, strict=True))
        for each in patterns
    )


def _formed(value: Any, place: Place) -> Any:
    """Return a value in the longer of the forms that it may have."""
    if isinstance(value, list) and _among(place, PAIRS):
        return dict(map(_pair, map(_text, value)))
    if isinstance(value, str) and _among(place, LISTS):
        return [value]
    if isinstance(value, str) and _among(place, [(*_SERVICE, "build")]):
        return {"context": value}
    return value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    return name, value if equals else None


def _joined(entries: list[Any], key: str) -> list[Any]:
    """Return a list without what a later entry replaces, each at the place of the first."""
    found: dict[str, Any] = {}
    for each in entries:
        found[_known_by(each, key)] = each
    return list(found.values())


def _known_by(entry: Any, key: str) -> str:
    if key in BY_PLACE:
        if isinstance(entry, dict):
            target = str(entry.get("target") or entry.get("source"))
        else:
            parts = str(entry).split(":")
            target = parts[1] if key == "volumes" and len(parts) > 1 else parts[0]
        return target if target.startswith("/") else f"{BY_PLACE[key]}{target}"
    return repr(entry)
