"""How much there is of everything at a scale: the published proportions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

USERS = 1_000_000
ITEMS = 33_000
OLD_ITEMS = 500_000
LEAST_ITEMS = 4_000
"""Items for sale at every scale: three in each category of each region, where users look."""


@dataclass(frozen=True)
class Population:
    """The size of a data set; `scale` multiplies the users, the old items and those for sale."""

    scale: float
    load_day: date
    """The data is as of its beginning: auctions that are under way then go on beyond its end."""

    @property
    def users(self) -> int:
        """`user1`..`userN` with `password1`..`passwordN`."""
        return max(1, round(USERS * self.scale))

    @property
    def items(self) -> int:
        """Items for sale."""
        return max(LEAST_ITEMS, round(ITEMS * self.scale))

    @property
    def old_items(self) -> int:
        """Items whose auction is over."""
        return max(1, round(OLD_ITEMS * self.scale))
