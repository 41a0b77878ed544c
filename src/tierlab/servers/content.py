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
class Content:
    """The same for all servers of a trial; without a loader there is no database."""

    pages: Pages
    loader: Loader | None
    credentials: Credentials
    fidelity: Fidelity = "corrected"
    apart: Mapping[str, Pages] = field(default_factory=dict)
    """By tier, what it serves where that is something else."""

    def of(self, tier: str) -> Content:
        """What a tier's servers serve."""
        return replace(self, pages=self.apart.get(tier, self.pages))

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
