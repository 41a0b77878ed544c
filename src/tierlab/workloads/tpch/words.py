"""The values that the specification's data are made of, as far as queries ask for them.

Source: TPC Benchmark H, Standard Specification, clauses 4.2.2.13 and 4.2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD")
MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")
TYPES = (
    ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"),
    ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"),
    ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER"),
)
"""A type's three syllables."""
CONTAINERS = (
    ("SM", "LG", "MED", "JUMBO", "WRAP"),
    ("CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"),
)
"""A container's two."""
REQUESTS = (
    ("special", "pending", "unusual", "express"),
    ("packages", "requests", "accounts", "deposits"),
)
"""Two words of a comment."""
NATIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"), "AFRICA"),
        **dict.fromkeys(("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"), "AMERICA"),
        **dict.fromkeys(("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"), "ASIA"),
        **dict.fromkeys(
            ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
            "EUROPE",
        ),
        **dict.fromkeys(("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"), "MIDDLE EAST"),
    }
)
"""Each with its region."""
REGIONS = tuple(dict.fromkeys(NATIONS.values()))
COUNTRY_CODES = tuple(range(10, 35))
"""What the nations' telephone numbers begin with."""
_COLORS = (
    "almond antique aquamarine azure beige bisque black blanched blue blush brown",
    "burlywood burnished chartreuse chiffon chocolate coral cornflower cornsilk cream",
    "cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost",
    "goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light",
    "lime linen magenta maroon medium metallic midnight mint misty moccasin navajo navy",
    "olive orange orchid pale papaya peach peru pink plum powder puff purple red rose",
    "rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan",
    "thistle tomato turquoise violet wheat white yellow",
)
COLORS = tuple(color for row in _COLORS for color in row.split())
"""Of the words that parts' names are made of."""
