"""The 22 queries as statements: each one's text with its parameters put in.

They are the specification's functional definitions; query 15 is its variant with a common table
expression, so that it is one statement as the others are.
"""

from __future__ import annotations

import random
from functools import cache
from importlib import resources
from string import Template

from tierlab.workloads.tpch import parameters
from tierlab.workloads.tpch.parameters import Values

QUERIES = tuple(range(1, 23))


def validating(query: int, scale: float) -> str:
    """The statement with the values that the specification validates with."""
    return _statement(query, parameters.VALIDATION[query], scale)


def drawn(query: int, scale: float, dice: random.Random) -> str:
    """The statement with drawn values."""
    return _statement(query, parameters.drawn(query, dice), scale)


def name(query: int) -> str:
    """What a query is called, such as ``Q3``."""
    return f"Q{query}"


def _statement(query: int, values: Values, scale: float) -> str:
    # What is drawn comes from our own lists of words: there is nothing to escape.
    return _text(query).substitute({**values, **parameters.of_scale(query, scale)})


@cache
def _text(query: int) -> Template:
    file = resources.files("tierlab.workloads.tpch") / "queries" / f"q{query:02}.sql"
    return Template(" ".join(file.read_text(encoding="utf-8").split()))
