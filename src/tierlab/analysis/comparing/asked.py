"""Was the same asked for in all trials? By dotted key: their load, soft resources and placements,
and what their plans say of the system, of how it is observed and of what is changed meanwhile.

What differs from repetition to repetition by itself (seeds, addresses, ports, versions) is none of
it, nor is what was found when a placement was read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tierlab.analysis.comparing.planned import planned
from tierlab.tables.manifest import Manifest

MOST_NAMED = 3
MOST_SHOWN = 30
"""Characters of a value; a shape has its whole curve."""
MAY_BE_FOUND = ".protocol"
"""How a key ends that is in a plan as well where nobody asked and it was seen."""


def settings(manifest: Manifest) -> dict[str, Any]:
    """Return what was asked for, such as ``load.users`` and ``app.1.soft.threads``."""
    return dict(_settings(manifest)) | planned(manifest)


def same_load(one: Manifest, other: Manifest) -> bool:
    """Say whether the users of both did the same, of each of several systems; what only one of them
    has kept is not held against the other.
    """
    here, there = _load(one), _load(other)
    return all(here[key] == there[key] for key in here.keys() & there.keys())


def _load(manifest: Manifest) -> dict[str, Any]:
    loads = {"load": manifest.load}
    loads |= {f"{name}.load": part.load for name, part in manifest.systems.items()}
    return {f"{name}.{key}": value for name, load in loads.items() for key, value in load.items()}


def _settings(manifest: Manifest) -> Iterator[tuple[str, Any]]:
    yield from _load(manifest).items()
    yield "servers", sorted(manifest.servers)
    for name, part in manifest.servers.items():
        yield from ((f"{name}.soft.{key}", value) for key, value in part.soft.items())
    for name, placed in manifest.mapping.items():
        asked = placed.get("asked") if isinstance(placed, Mapping) else None
        if isinstance(asked, Mapping):
            yield from ((f"{name}.{key}", value) for key, value in asked.items())


def differing(manifests: Mapping[str, Manifest]) -> str:
    """Say which settings differ, each with its values and the trials (the keys) that have them;
    empty where none does. What a trial's folder is too old to have kept is not held against it.
    """
    by_key: dict[str, dict[str, list[str]]] = {}
    for trial, told in _told(manifests).items():
        for key, value in told.items():
            text = "unset" if value is None else json.dumps(value, sort_keys=True, default=str)
            by_key.setdefault(key, {}).setdefault(text, []).append(trial)
    unlike = [f"{key} {_values(each)}" for key, each in by_key.items() if len(each) > 1]
    more = len(unlike) - MOST_NAMED
    return "; ".join([*unlike[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _told(manifests: Mapping[str, Manifest]) -> dict[str, dict[str, Any]]:
    """The settings of each trial. A plan leaves out what is unset: None is what another's of the
    same version of Tierlab has, which would have kept it.
    """
    known: dict[str | None, dict[str, None]] = {}
    for manifest in manifests.values():
        keys = (key for key in planned(manifest) if not key.endswith(MAY_BE_FOUND))
        known.setdefault(_version(manifest), {}).update(dict.fromkeys(keys))
    found = {}
    for trial, manifest in manifests.items():
        told = settings(manifest)
        unset = known[_version(manifest)] if manifest.plan else {}
        found[trial] = told | {key: None for key in unset if key not in told}
    return found


def _version(manifest: Manifest) -> str | None:
    return manifest.versions.get("tierlab")


def _values(trials: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{_short(text)} in {' and '.join(who)}" for text, who in trials.items())


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
