"""Colours that everybody can tell apart, one a tier throughout the page.

The names are CSS variables; their values (after M. Okabe and K. Ito, "Color Universal Design",
with lighter ones on a dark page) are in ``templates/style.css``. Servers of one tier share its
colour and differ by dash, so that colour is never the only difference.
"""

from tierlab.analysis.summary import Summary

SERIES = ("c0", "c1", "c2", "c3", "c4", "c5", "c6")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def series(index: int) -> tuple[str, str]:
    """Return the colour and dash of the index-th line of a panel."""
    return SERIES[index % len(SERIES)], DASHES[index // len(SERIES) % len(DASHES)]


def tier_colours(summary: Summary) -> dict[str, str]:
    """Return each tier's colour, from the users on."""
    tiers = [each.tier for each in summary.time.tiers] if summary.time is not None else []
    tiers += sorted({each.tier for each in summary.servers} - set(tiers))
    return {tier: SERIES[index % len(SERIES)] for index, tier in enumerate(tiers)}


def server_styles(summary: Summary) -> dict[str, tuple[str, str]]:
    """Return each server's colour and dash."""
    colours, used = tier_colours(summary), dict.fromkeys(tier_colours(summary), 0)
    styles = {}
    for each in summary.servers:
        styles[each.name] = (colours[each.tier], DASHES[used[each.tier] % len(DASHES)])
        used[each.tier] += 1
    return styles
