"""A file's tables as `tierlab check` runs them: one user, who does not think, for a few seconds.

One for each recording, where users repeat several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

KEPT = ("mix", "connection", "images", "timeouts")
"""What a lonely user does as the file says."""
SEEN = {"observe": {"calls": True}}
"""Who calls whom is to be seen meanwhile."""


def checking(tables: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    """A copy of valid tables: what is there to be checked, and nothing that is done to it."""
    system, load = tables["system"], tables.get("load", {})
    phases = {"ramp_up": "0s", "runtime": f"{seconds}s", "ramp_down": "0s"}
    if isinstance(system, list):
        alone = [_hurried(each) | {"load": _few(each.get("load", {}), each)} for each in system]
        return SEEN | {
            "experiment": tables["experiment"],
            "system": alone,
            "load": {"phases": phases},
        }
    return SEEN | {
        "experiment": tables["experiment"],
        "system": _hurried(system),
        "load": _few(load, system) | {"phases": phases},
    }


def _few(load: Mapping[str, Any], system: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: load[key] for key in KEPT if key in load}
    return kept | {"users": max(1, len(_recordings(system))), "think": "0s"}


def _recordings(system: Mapping[str, Any]) -> Sequence[str]:
    """The visits of which every user repeats one."""
    sessions = system.get("sessions")
    har = sessions.get("har") if isinstance(sessions, dict) else None
    return [har] if isinstance(har, str) else har or []


def _hurried(system: Mapping[str, Any]) -> dict[str, Any]:
    """Without the think times of a recording."""
    sessions = system.get("sessions")
    if not isinstance(sessions, dict) or "start" in sessions:
        return dict(system)
    return {**system, "sessions": {**sessions, "think": "load"}}
