"""How much there is of everything at a scale: the published growth with the concurrent users.

Source: Apache Olio, `ScaleFactors.java` and the loader of its PHP workload, release 0.2 (2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

CONCURRENT_USERS = 1_000
"""That the data of scale 1.0 is for; from about so many on, tags and events grow no more."""
LEAST_CONCURRENT_USERS = 25
PEOPLE_PER_USER = 100
MOST_TAGS = 5_000
EVENTS_PER_TAG = 3


def concurrent_users(scale: float) -> int:
    """The most users at once that data of a scale is for; below the least there is no smaller."""
    return max(LEAST_CONCURRENT_USERS, round(CONCURRENT_USERS * scale))


@dataclass(frozen=True)
class Population:
    """The size of a data set."""

    concurrent: int
    """The most concurrent users that it is for."""
    load_day: date
    """The data is as of its beginning."""

    @classmethod
    def at(cls, scale: float, load_day: date) -> Population:
        """That of a scale."""
        return cls(concurrent_users(scale), load_day)

    @property
    def people(self) -> int:
        """Registered users, `user1`..`userN`, with their numbers as passwords."""
        return PEOPLE_PER_USER * self.concurrent

    @property
    def tags(self) -> int:
        """`tag1`..`tagN`: half a logistic curve."""
        return max(1, round(MOST_TAGS * math.tanh(self.people / 20_000)))

    @property
    def events(self) -> int:
        """Of all times, most of them to come."""
        return EVENTS_PER_TAG * self.tags
