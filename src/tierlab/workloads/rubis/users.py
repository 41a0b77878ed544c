"""Who uses RUBiS and how: the workload description that the driver plays.

Its form is that of `agent/crates/drive/src/workload.rs`, as for RUBBoS.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tierlab.errors import UserError
from tierlab.servers.content import Fidelity
from tierlab.workloads.rubis.population import Population
from tierlab.workloads.rubis.states import states
from tierlab.workloads.sessions.description import FIDELITIES, rules
from tierlab.workloads.sessions.transitions import described, transitions
from tierlab.workloads.text.dictionary import dictionary

HOME = "Home"
PACKAGE = "tierlab.workloads.rubis"
MIXES: Mapping[str, str] = MappingProxyType({"browsing": "browse-only", "bidding": "default"})
"""The published mixes by name, with their transition tables."""


def users(mix: str, fidelity: Fidelity, population: Population) -> dict[str, Any]:
    """The description of `mix` for a data set of this population."""
    table = MIXES.get(mix)
    if table is None:
        raise UserError(f"load.mix: there is no mix {mix!r}; choose one of {', '.join(MIXES)}")
    if fidelity not in FIDELITIES:
        raise UserError(f"load.fidelity must be one of {', '.join(FIDELITIES)}, not {fidelity!r}")
    columns = described(transitions(PACKAGE, table), normalised=fidelity == "corrected")
    return {
        "name": f"rubis {mix} {fidelity}",
        "home": HOME,
        "states": states(fidelity, population),
        "sessions": [
            {
                "name": "user",
                "share": 1.0,
                "identity": {
                    "numbers": [1, population.users],
                    "values": {"id": "{n}", "nickname": "user{n}", "password": "password{n}"},
                },
                "transitions": columns,
            }
        ],
        "rules": rules(fidelity),
        "dictionary": list(dictionary().words),
    }
