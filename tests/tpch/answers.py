"""A query's answer in one form, whoever gives it: texts without blanks around them, decimals to the
two places that the specification validates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

Answer = list[tuple[str, ...]]
CENT = Decimal("0.01")


def written(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    text = str(value).strip()
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return f"{number.quantize(CENT, ROUND_HALF_UP):f}"


def answer(rows: Iterable[Sequence[object]]) -> Answer:
    return [tuple(map(written, row)) for row in rows]
