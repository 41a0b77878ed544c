"""Descriptions as they are kept with a run: what users alone are to know is not in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

HIDDEN = "(not kept)"


def without_secrets(described: Any) -> Any:
    """A description in the driver's form with nothing in the place of its secrets."""
    if isinstance(described, Mapping):
        if set(described) == {"secret"}:
            return {"secret": HIDDEN}
        return {key: without_secrets(value) for key, value in described.items()}
    if isinstance(described, list | tuple):
        return [without_secrets(each) for each in described]
    return described
