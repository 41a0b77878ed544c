"""How much there is of everything at a scale: the published proportions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

USERS = 500_000
AUTHORS = 50
STORIES_PER_DAY = (15, 25)
COMMENTS_PER_STORY = (20, 50)
OLD_DAYS = 730
NEW_DAYS = 30
LEAST_NEW_DAYS = 8
"""The new tables hold the past week at every scale, because that is where users look."""
SUBMISSIONS = 1_000
LEAST_SUBMISSIONS = 50


@dataclass(frozen=True)
class Population:
    """The size of a data set.

    `scale` multiplies the users and the days of history; the stories of a day stay as many as
    published, so that a page costs the same at every scale. Where the history would be shorter
    than `LEAST_NEW_DAYS` and a day, the days hold fewer stories instead.
    """

    scale: float
    load_day: date
    """The data ends with the day before."""

    @property
    def users(self) -> int:
        """`user1`..`userN` with `password1`..`passwordN`."""
        return max(1, round(USERS * self.scale))

    @property
    def authors(self) -> int:
        """`author1`..`author50` with `password1`..`password50`; not scaled, as published."""
        return AUTHORS

    @property
    def new_days(self) -> int:
        """Days in `stories` and `comments`."""
        return max(LEAST_NEW_DAYS, round(NEW_DAYS * self.scale))

    @property
    def days(self) -> int:
        """Days in all; the older ones are in `old_stories` and `old_comments`."""
        return max(self.new_days + 1, round((OLD_DAYS + NEW_DAYS) * self.scale))

    @property
    def density(self) -> float:
        """Share of the published stories of a day; below 1 only where the history is too short."""
        wanted = (OLD_DAYS + NEW_DAYS) * self.scale
        return 1.0 if self.days == round(wanted) else wanted / self.days

    @property
    def submissions(self) -> int:
        """Stories that wait for review."""
        return max(LEAST_SUBMISSIONS, round(SUBMISSIONS * self.scale))

    @property
    def first_day(self) -> date:
        """The oldest stories' day."""
        return self.load_day - timedelta(days=self.days)

    @property
    def last_day(self) -> date:
        """The newest stories' day."""
        return self.load_day - timedelta(days=1)
