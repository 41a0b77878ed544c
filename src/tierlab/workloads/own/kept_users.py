"""Descriptions as they are kept with a run: what users alone are to know is not in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tierlab.workloads.own.secrets import is_sensitive
from tierlab.workloads.own.slots import target_slots

HIDDEN = "(not kept)"
TARGETS = ("resources", "except")
"""Keys of lists of targets, of which only the driver is told those that may have a secret."""


def without_secrets(described: Any) -> Any:
    """A description in the driver's form with nothing in the place of its secrets, and without
    targets that may have one.
    """
    if isinstance(described, Mapping):
        if set(described) == {"secret"}:
            return {"secret": HIDDEN}
        return {
            key: _kept(value) if key in TARGETS else without_secrets(value)
            for key, value in described.items()
        }
    if isinstance(described, list | tuple):
        return [without_secrets(each) for each in described]
    return described


def _kept(targets: Any) -> Any:
    if not isinstance(targets, list | tuple):
        return without_secrets(targets)
    return [each for each in targets if not (isinstance(each, str) and _tells_secret(each))]


def _tells_secret(target: str) -> bool:
    """Whether it looks so: the hash in a style's address does, as well as a token."""
    return any(
        slot.name and is_sensitive(slot.name, slot.value) and slot.place == "query"
        for slot in target_slots(target)
    )
