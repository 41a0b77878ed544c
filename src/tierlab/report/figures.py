"""Writing numbers for people, the same way everywhere."""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def number(value: float) -> str:
    """Write a number with three significant digits and thousands separated.

    >>> number(29820.4), number(497.3), number(4.137), number(0.0)
    ('29,820', '497', '4.14', '0')
    """
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) >= 0.01 else f"{value:.1g}"


def count(value: int) -> str:
    """Write a whole number with thousands separated."""
    return f"{value:,}"


def seconds(value: float) -> str:
    """Write a duration in the unit that suits it.

    >>> seconds(3.0214), seconds(0.0413), seconds(0.0021), seconds(0.00045), seconds(1800.0)
    ('3.02 s', '41 ms', '2.1 ms', '450 µs', '1,800 s')
    """
    if abs(value) >= 1 or value == 0:
        return f"{number(value)} s"
    if abs(value) >= 0.01:
        return f"{value * 1e3:.0f} ms"
    if abs(value) >= 0.001:
        return f"{value * 1e3:.1f}".removesuffix(".0") + " ms"
    return f"{value * 1e6:.0f} µs"


def share(value: float) -> str:
    """Write a share as a percentage; a small one is never rounded to nothing.

    >>> share(0.613), share(0.0042), share(0.00001), share(0.0), share(1.0)
    ('61 %', '0.4 %', '<0.1 %', '0 %', '100 %')
    """
    percent = value * 100
    if value == 0 or abs(percent) >= 10:
        return f"{percent:.0f} %"
    if abs(percent) < 0.1:
        return "<0.1 %" if value > 0 else ">-0.1 %"
    return f"{percent:.1f}".removesuffix(".0") + " %"


def amount(value: float, unit: str) -> str:
    """Write a value with its unit; bytes get a binary prefix.

    >>> amount(0.7, "share"), amount(2_097_152.0, "B/s"), amount(0.4, "cores"), amount(12.0, "")
    ('70 %', '2 MiB/s', '0.4 cores', '12')
    """
    if unit == "share":
        return share(value)
    if unit not in {"B", "B/s"}:
        return (
            f"{number(value)}{unit}" if unit.startswith("/") else f"{number(value)} {unit}".strip()
        )
    power = 0
    while abs(value) >= 1024 and power < len(_BINARY) - 1:
        value, power = value / 1024, power + 1
    return f"{number(value)} {_BINARY[power]}{unit[1:]}"


def printable(text: str) -> str:
    """Return the text without what steers a terminal: a run folder may come from anywhere.

    Control characters, ESC and the 8-bit ones among them, and those that turn the direction of
    writing are left out; a line break becomes a space, so that a line stays a line.

    >>> printable("web\\x1b[2J\\x9b31m\\r\\n\\u202eb · 61 %")
    'web[2J31m  b · 61 %'
    """
    kept = (
        " " if each.isspace() else each for each in text if each.isspace() or each.isprintable()
    )
    return "".join(kept)
