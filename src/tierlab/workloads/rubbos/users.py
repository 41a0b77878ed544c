"""Who uses RUBBoS and how: the workload description that the driver plays.

A description holds the states of a session (`states`), the kinds of session with their shares and
transition probabilities, the rules by which users react, and the words they write. Its form is
that of `agent/crates/drive/src/workload.rs`.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources
from types import MappingProxyType
from typing import Any

from tierlab.errors import UserError
from tierlab.servers.content import Fidelity
from tierlab.workloads.rubbos.dictionary import dictionary
from tierlab.workloads.rubbos.population import Population
from tierlab.workloads.rubbos.states import states

HOME = "StoriesOfTheDay"
FIDELITIES: tuple[Fidelity, ...] = ("published", "corrected")
_PSEUDO_STATES = {"Back probability": "Back", "End of Session": "End"}


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
        "rules": _rules(fidelity),
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
            "transitions": _transitions(table, normalised=fidelity == "corrected"),
        }
        for name, share, table, accounts in kinds
        if share > 0
    ]


def _rules(fidelity: Fidelity) -> dict[str, Any]:
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


def transitions(table: str) -> dict[str, dict[str, float]]:
    """A published table: for each state the probabilities of the next ones, in file order.

    The file has a column for each state one leaves and a row for each state one enters; its last
    row (menu probabilities) and last column (waiting times) are for people.
    """
    file = resources.files("tierlab.workloads.rubbos") / "mixes" / f"{table}.csv"
    rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    origins = rows[0][1:-1]
    columns: dict[str, dict[str, float]] = {origin: {} for origin in origins}
    for row in rows[1:]:
        if row[0] in origins or row[0] in _PSEUDO_STATES:
            to = _PSEUDO_STATES.get(row[0], row[0])
            for origin, probability in zip(origins, row[1:], strict=False):
                columns[origin][to] = float(probability)
    return columns


def _transitions(table: str, *, normalised: bool) -> dict[str, list[tuple[str, float]]]:
    return {
        origin: [
            (to, probability / (sum(column.values()) if normalised else 1.0))
            for to, probability in column.items()
            if probability > 0
        ]
        for origin, column in transitions(table).items()
    }
