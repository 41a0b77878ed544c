"""Who uses RUBBoS and how: the workload description that the driver plays.

A description holds the states of a session (`states`), the kinds of session with their shares and
transition probabilities, the rules by which users react, and the words they write. Its form is
that of `agent/crates/drive/src/workload.rs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any

from tierlab.errors import UserError
from tierlab.servers.content import Fidelity
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.states import states
from tierlab.workloads.sessions.description import FIDELITIES, rules
from tierlab.workloads.sessions.transitions import described, transitions
from tierlab.workloads.text.dictionary import dictionary

HOME = "StoriesOfTheDay"
_PACKAGE = "tierlab.workloads.rubbos"


@dataclass(frozen=True)
class Mix:
    """A mix: the transition table of its users, its authors' share and theirs."""

    user_table: str
    author_share: float = 0.0
    author_table: str = "author-default"


MIXES: Mapping[str, Mix] = MappingProxyType(
    {
        "browse-only": Mix("browse-only"),
        "browse-only-no-search": Mix("browse-only-no-search"),
        "user": Mix("user-default"),
        "user-no-search": Mix("user-default-no-search"),
        "author": Mix("user-default", author_share=1.0),
        "read-write": Mix("user-default", author_share=0.1),
        "read-write-no-search": Mix("user-default-no-search", author_share=0.1),
    }
)
"""The published mixes by name; read-write is the published submission run."""


def users(
    mix: str, fidelity: Fidelity, population: Population, today: date | None = None
) -> dict[str, Any]:
    """The description of `mix` for a data set of this population.

    `today` is the wall clock that the published client reads (default: today, UTC is not asked
    for by it); the corrected one asks for days relative to the population's load day.
    """
    chosen = MIXES.get(mix)
    if chosen is None:
        raise UserError(f"load.mix: there is no mix {mix!r}; choose one of {', '.join(MIXES)}")
    if fidelity not in FIDELITIES:
        raise UserError(f"load.fidelity must be one of {', '.join(FIDELITIES)}, not {fidelity!r}")
    return {
        "name": f"rubbos {mix} {fidelity}",
        "home": HOME,
        "states": states(fidelity, population, today or date.today()),
        "sessions": _sessions(chosen, fidelity, population),
        "rules": rules(fidelity),
        "dictionary": list(dictionary().words),
    }


def _sessions(mix: Mix, fidelity: Fidelity, population: Population) -> list[dict[str, Any]]:
    kinds = (
        ("user", 1.0 - mix.author_share, mix.user_table, population.users),
        ("author", mix.author_share, mix.author_table, population.authors),
    )
    return [
        {
            "name": name,
            "share": share,
            "identity": {
                "numbers": [1, accounts],
                "values": {"nickname": name + "{n}", "password": "password{n}"},
            },
            "transitions": described(
                transitions(_PACKAGE, table), normalised=fidelity == "corrected"
            ),
        }
        for name, share, table, accounts in kinds
        if share > 0
    ]
