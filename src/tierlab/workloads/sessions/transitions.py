"""The published transition tables: how likely each next state of a session is."""

from __future__ import annotations

import csv
from importlib import resources

_PSEUDO_STATES = {"Back probability": "Back", "End of Session": "End"}


def transitions(package: str, table: str) -> dict[str, dict[str, float]]:
    """A workload's table: for each state the probabilities of the next ones, in file order.

    The file has a column for each state one leaves and a row for each state one enters; its last
    row (menu probabilities) and last column (waiting times) are for people.
    """
    file = resources.files(package) / "mixes" / f"{table}.csv"
    rows = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))
    origins = rows[0][1:-1]
    columns: dict[str, dict[str, float]] = {origin: {} for origin in origins}
    for row in rows[1:]:
        if row[0] in origins or row[0] in _PSEUDO_STATES:
            to = _PSEUDO_STATES.get(row[0], row[0])
            for origin, probability in zip(origins, row[1:], strict=False):
                columns[origin][to] = float(probability)
    return columns


def described(
    columns: dict[str, dict[str, float]], *, normalised: bool
) -> dict[str, list[tuple[str, float]]]:
    """The table in the driver's form, as it stands or with every column made to sum to 1."""
    return {
        origin: [
            (to, probability / (sum(column.values()) if normalised else 1.0))
            for to, probability in column.items()
            if probability > 0
        ]
        for origin, column in columns.items()
    }
