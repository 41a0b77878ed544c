"""What a workload has its servers serve: pages, the application, and the data behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tierlab.servers.application import Application, DynamicPages, Pages
from tierlab.servers.database import Credentials, Loader

Fidelity = Literal["corrected", "published"]
"""Whether the known flaws of the published application and its client are kept or mended."""


@dataclass(frozen=True)
class Filling:
    """What one database has in it, and whom it lets in."""

    loader: Loader
    credentials: Credentials


@dataclass(frozen=True)
class Content:
    """The same for all servers of a trial but for what is apart; without a loader there is no
    database.
    """

    pages: Pages
    loader: Loader | None
    credentials: Credentials
    fidelity: Fidelity = "corrected"
    apart: Mapping[str, Pages] = field(default_factory=dict)
    """By tier, what it serves where that is something else."""
    fillings: Mapping[str, Filling] = field(default_factory=dict)
    """By tier, what its database has in it where there are several."""

    def of(self, tier: str) -> Content:
        """What a tier's servers serve, and what is in its database."""
        served = replace(self, pages=self.apart.get(tier, self.pages))
        if (filling := self.fillings.get(tier)) is None:
            return served
        return replace(served, loader=filling.loader, credentials=filling.credentials)

    def login(self, tier: str) -> Credentials:
        """Whom a tier's database lets in."""
        return self.of(tier).credentials

    @property
    def dynamic(self) -> DynamicPages:
        """The pages, of which an application makes some; only asked where a tier runs it."""
        assert isinstance(self.pages, DynamicPages)
        return self.pages

    @property
    def application(self) -> Application:
        """The pages' application of Java's; only asked where a tier runs it."""
        assert isinstance(self.pages, Application)
        return self.pages
