"""Figures that tests measured beside what they hold them against, for the log.

pytest shows nobody what a passing test printed; the root conftest lists these at its end, those of
xdist's worker processes too.
"""

from __future__ import annotations

import os

FIGURES: list[tuple[str, str]] = []
"""Test, and what it measured."""


def own_name(node: str) -> str:
    """A test's name without the group that a worker of xdist's adds to it."""
    return node.rpartition("@")[0] if node.rfind("@") > node.rfind("]") else node


def figure(text: str) -> None:
    """Have a line in the log, under the name of the test that runs."""
    print(text)
    FIGURES.append((own_name(os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]), text))
