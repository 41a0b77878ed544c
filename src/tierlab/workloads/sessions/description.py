"""Descriptions of states in the driver's form, that of `agent/crates/drive/src/workload.rs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tierlab.servers.content import Fidelity

FIDELITIES: tuple[Fidelity, ...] = ("published", "corrected")
"""Whether users keep the published client's known flaws."""

State = dict[str, Any]


def state(name: str, path: str, parameters: Mapping[str, Any] | None = None, **rest: Any) -> State:
    """A state that asks for a page, each parameter from its source."""
    listed = [{"name": key, "from": source} for key, source in (parameters or {}).items()]
    return {"name": name, "path": path, "parameters": listed} | rest


def values(*names: str, kind: str) -> dict[str, Any]:
    """Parameters of the followed link (`link`), the page's form (`field`), the user (`identity`)
    or the drawn row (`row`).
    """
    return {name: {kind: name} for name in names}


def login() -> dict[str, Any]:
    """The user's nickname and password."""
    return values("nickname", "password", kind="identity")


def rules(fidelity: Fidelity) -> dict[str, Any]:
    """How users react to what they get; the published ones as the client of the Rice benchmarks."""
    if fidelity == "corrected":
        return {"back_if": "Sorry"}
    return {
        "start": "at_once",
        "over_cap": "zero",
        "think_after_failure": False,
        "opens": 5,
        "reopen_after_ns": 1_000_000_000,
        "back_if": "Sorry",
        "failed_if": "ERROR",
        "keep_history": True,
    }
