"""What is put into the queries: the values that the specification validates with, or drawn ones.

Source: TPC Benchmark H, Standard Specification, clauses 2.4.1 to 2.4.22, "Substitution Parameters"
and "Query Validation".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tierlab.workloads.tpch import words

Values = Mapping[str, str]
"""By the name that a query's text has for them."""

VALIDATION: Mapping[int, Values] = MappingProxyType(
    {
        1: {"delta": "90"},
        2: {"size": "15", "type": "BRASS", "region": "EUROPE"},
        3: {"segment": "BUILDING", "date": "1995-03-15"},
        4: {"date": "1993-07-01"},
        5: {"region": "ASIA", "date": "1994-01-01"},
        6: {"date": "1994-01-01", "discount": "0.06", "quantity": "24"},
        7: {"nation1": "FRANCE", "nation2": "GERMANY"},
        8: {"nation": "BRAZIL", "region": "AMERICA", "type": "ECONOMY ANODIZED STEEL"},
        9: {"color": "green"},
        10: {"date": "1993-10-01"},
        11: {"nation": "GERMANY"},
        12: {"mode1": "MAIL", "mode2": "SHIP", "date": "1994-01-01"},
        13: {"word1": "special", "word2": "requests"},
        14: {"date": "1995-09-01"},
        15: {"date": "1996-01-01"},
        16: {
            "brand": "Brand#45",
            "type": "MEDIUM POLISHED",
            "sizes": "49, 14, 23, 45, 19, 3, 36, 9",
        },
        17: {"brand": "Brand#23", "container": "MED BOX"},
        18: {"quantity": "300"},
        19: {
            **{"brand1": "Brand#12", "brand2": "Brand#23", "brand3": "Brand#34"},
            **{"quantity1": "1", "quantity2": "10", "quantity3": "20"},
        },
        20: {"color": "forest", "date": "1994-01-01", "nation": "CANADA"},
        21: {"nation": "SAUDI ARABIA"},
        22: {"codes": "'13', '31', '23', '29', '30', '18', '17'"},
    }
)
"""By query; what depends on the scale is left out."""


def drawn(query: int, dice: random.Random) -> Values:
    """Values by the query's rules, each as likely as another."""
    return _DRAWN[query](dice)


def of_scale(query: int, scale: float) -> Values:
    """What depends on the scale alone."""
    return {"fraction": f"{0.0001 / scale:.10f}"} if query == 11 else {}


def _month(first: str, last: str) -> Callable[[random.Random], str]:
    """The first day of a month between two, such as ``1993-01``, both included."""
    begin, end = (
        int(year) * 12 + int(month) - 1 for year, month in (first.split("-"), last.split("-"))
    )

    def draw(dice: random.Random) -> str:
        year, month = divmod(dice.randint(begin, end), 12)
        return f"{year}-{month + 1:02}-01"

    return draw


def _year(dice: random.Random) -> str:
    return f"{dice.randint(1993, 1997)}-01-01"


def _brand(dice: random.Random) -> str:
    return f"Brand#{dice.randint(1, 5)}{dice.randint(1, 5)}"


def _syllables(dice: random.Random, *lists: tuple[str, ...]) -> str:
    return " ".join(map(dice.choice, lists))


def _nation(dice: random.Random) -> str:
    return dice.choice(tuple(words.NATIONS))


def _q7(dice: random.Random) -> Values:
    one, other = dice.sample(tuple(words.NATIONS), 2)
    return {"nation1": one, "nation2": other}


def _q8(dice: random.Random) -> Values:
    nation = _nation(dice)
    type_ = _syllables(dice, *words.TYPES)
    return {"nation": nation, "region": words.NATIONS[nation], "type": type_}


def _q12(dice: random.Random) -> Values:
    one, other = dice.sample(words.MODES, 2)
    return {"mode1": one, "mode2": other, "date": _year(dice)}


def _q16(dice: random.Random) -> Values:
    sizes = ", ".join(map(str, dice.sample(range(1, 51), 8)))
    return {"brand": _brand(dice), "type": _syllables(dice, *words.TYPES[:2]), "sizes": sizes}


def _q19(dice: random.Random) -> Values:
    brands = {f"brand{n}": _brand(dice) for n in (1, 2, 3)}
    return brands | {
        f"quantity{n}": str(dice.randint(10 * (n - 1) or 1, 10 * n)) for n in (1, 2, 3)
    }


def _q22(dice: random.Random) -> Values:
    return {"codes": ", ".join(f"'{code}'" for code in dice.sample(words.COUNTRY_CODES, 7))}


_DRAWN: Mapping[int, Callable[[random.Random], Values]] = {
    1: lambda dice: {"delta": str(dice.randint(60, 120))},
    2: lambda dice: {
        "size": str(dice.randint(1, 50)),
        "type": dice.choice(words.TYPES[2]),
        "region": dice.choice(words.REGIONS),
    },
    3: lambda dice: {
        "segment": dice.choice(words.SEGMENTS),
        "date": f"1995-03-{dice.randint(1, 31):02}",
    },
    4: lambda dice: {"date": _month("1993-01", "1997-10")(dice)},
    5: lambda dice: {"region": dice.choice(words.REGIONS), "date": _year(dice)},
    6: lambda dice: {
        "date": _year(dice),
        "discount": f"0.0{dice.randint(2, 9)}",
        "quantity": str(dice.randint(24, 25)),
    },
    7: _q7,
    8: _q8,
    9: lambda dice: {"color": dice.choice(words.COLORS)},
    10: lambda dice: {"date": _month("1993-02", "1995-01")(dice)},
    11: lambda dice: {"nation": _nation(dice)},
    12: _q12,
    13: lambda dice: dict(zip(("word1", "word2"), map(dice.choice, words.REQUESTS), strict=True)),
    14: lambda dice: {"date": _month("1993-01", "1997-12")(dice)},
    15: lambda dice: {"date": _month("1993-01", "1997-10")(dice)},
    16: _q16,
    17: lambda dice: {"brand": _brand(dice), "container": _syllables(dice, *words.CONTAINERS)},
    18: lambda dice: {"quantity": str(dice.randint(312, 315))},
    19: _q19,
    20: lambda dice: {
        "color": dice.choice(words.COLORS),
        "date": _year(dice),
        "nation": _nation(dice),
    },
    21: lambda dice: {"nation": _nation(dice)},
    22: _q22,
}
